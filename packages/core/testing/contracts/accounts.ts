import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import type { StoredPorts } from '@gateway/core'
import type { AccountId, Accounts, KeyHash, KeyId, NewAccount, NewApiKey } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { CallingCode, SenderAddress } from '@gateway/core/messages'
import type { PasswordHash } from '@gateway/core/people'
import { instant, secondsAfter, type Instant } from '@gateway/core/time'
import { anAccount, anAccountId, aNewAccount, aNumber, withoutSettings } from '../builders.ts'
import { assertLedger, concurrentCallers, collect, type Contract } from './shared.ts'

const now = instant(Date.UTC(2026, 9, 18, 8))
const stranger = anAccountId(2 ** 31 - 8)
const noKey = (2 ** 31 - 8) as KeyId
const hash = (text: string) => createHash('sha256').update(text).digest('hex') as KeyHash
const password = (text: string) => `$scrypt$ln=14$c2FsdA$${text}` as PasswordHash

const newKey = (name: string, expires?: Instant): NewApiKey => ({
  hash: hash(name),
  prefix: name.slice(0, 6),
  label: `key of ${name}`,
  expires,
  from: [],
})

const open = (accounts: Accounts, account: Partial<NewAccount>, granted = 0) =>
  accounts.open({ account: { ...aNewAccount(), ...account }, password: undefined, credits: credits(granted) }, now)

async function issued(accounts: Accounts, id: AccountId, key: NewApiKey): Promise<KeyId> {
  const issued = await accounts.issueKey(id, key, now)
  return typeof issued === 'number' ? issued : assert.fail('the key was not issued')
}

export const accountsContract: Contract<StoredPorts> = {
  'a new account is unlocked and has all its fields and its first credits': async ({ accounts }) => {
    const account: NewAccount = {
      parent: undefined,
      login: "!Zoe'~%_#1",
      firstName: `O'Brien "\\" 😀`,
      surname: `Robert'); drop table account; --`,
      trial: { ownNumber: aNumber('27821234567') },
      transactional: true,
    }
    const id = await accounts.open({ account, password: undefined, credits: credits(123) }, now)
    if (typeof id === 'string') assert.fail(id)
    const expected = { account: { ...account, ...withoutSettings, id, locked: false, shortCodes: [] }, balance: 123 }
    assert.deepEqual(await accounts.find(id), expected)
    assert.deepEqual(await collect(accounts.list()), [expected])
    assert.deepEqual(await accounts.byLogin(account.login), { account: expected.account, password: undefined })
  },

  'the credits of an opened account are entries of its ledger': async (ports) => {
    await anAccount(ports, { credits: 70 })
    await anAccount(ports, { credits: 0 })
    await assertLedger(ports, 70)
  },

  'account ids are unique positive integers below 2^31, also with concurrent openings': async (ports) => {
    const opened = await Promise.all(Array.from({ length: concurrentCallers }, () => anAccount(ports)))
    const ids = opened.map(({ id }) => id)
    assert.equal(new Set(ids).size, concurrentCallers)
    for (const id of ids) assert.ok(Number.isInteger(id) && id > 0 && id < 2 ** 31, `${id}`)
    const listed = (await collect(ports.accounts.list())).map(({ account }) => account.id)
    assert.deepEqual(
      listed,
      ids.toSorted((a, b) => a - b),
      'listed by id',
    )
  },

  'a user name is unique in any letter case, and a refused opening leaves nothing behind': async (ports) => {
    const { accounts, ledger } = ports
    const { id } = await anAccount(ports, { login: 'Kofi.Annan', credits: 10 })
    for (const login of ['Kofi.Annan', 'KOFI.ANNAN', 'kofi.annan']) {
      assert.equal(await open(accounts, { login }, 500), 'login-taken')
    }
    assert.equal((await collect(accounts.list())).length, 1)
    assert.deepEqual(await ledger.check(), { accounts: 1, balances: 10, differences: [] })
    assert.equal((await accounts.byLogin('kOFI.aNNAN'))?.account.id, id)
  },

  'user names that only look alike are different': async (ports) => {
    const logins = ['a_c', 'abc', 'a%c', 'a.c', 'ab', 'a\\c', "a'c"]
    for (const login of logins) await anAccount(ports, { login })
    for (const login of logins) assert.equal((await ports.accounts.byLogin(login))?.account.login, login)
    for (const login of ['a', 'a%', '%', '_', '', "'", 'a?c', 'abc ']) {
      assert.equal(await ports.accounts.byLogin(login), undefined, login)
    }
  },

  'of concurrent openings with one user name in different letter cases exactly one succeeds': async (ports) => {
    const spellings = Array.from({ length: concurrentCallers }, (_, i) =>
      Array.from('thandi')
        .map((letter, at) => ((i >> at) & 1 ? letter.toUpperCase() : letter))
        .join(''),
    )
    const results = await Promise.all(spellings.map((login) => open(ports.accounts, { login }, 10)))
    assert.equal(results.filter((result) => result === 'login-taken').length, concurrentCallers - 1)
    const found = await ports.accounts.byLogin('thandi')
    assert.ok(found !== undefined && results.includes(found.account.id))
    assert.deepEqual(await ports.ledger.check(), { accounts: 1, balances: 10, differences: [] })
  },

  'a parent must exist and be a main account; a refused opening leaves nothing behind': async (ports) => {
    const { accounts, ledger } = ports
    const main = await anAccount(ports, { credits: 10 })
    const sub = await anAccount(ports, { parent: main.id, credits: 10 })
    assert.equal(sub.parent, main.id)
    assert.equal((await accounts.find(sub.id))?.account.parent, main.id)
    assert.equal(await open(accounts, { login: 'orphan', parent: stranger }, 5), 'no-such-parent')
    assert.equal(await open(accounts, { login: 'grandchild', parent: sub.id }, 5), 'parent-is-sub-account')
    assert.deepEqual(await ledger.check(), { accounts: 2, balances: 20, differences: [] })
    assert.equal(typeof (await open(accounts, { login: 'orphan' })), 'number', 'the name is still free')
  },

  'the sub accounts of a main account are listed by id in their present state': async (ports) => {
    const { accounts } = ports
    const [main, other] = [await anAccount(ports), await anAccount(ports)]
    assert.deepEqual(await accounts.subAccounts(main.id), [])
    const first = await anAccount(ports, { parent: main.id, credits: 30 })
    await anAccount(ports, { parent: other.id })
    const second = await anAccount(ports, { parent: main.id, credits: 0, trial: { ownNumber: aNumber() } })
    assert.deepEqual(await accounts.subAccounts(main.id), [
      { account: first, balance: 30 },
      { account: second, balance: 0 },
    ])
    await accounts.setLocked(first.id, true)
    await ports.ledger.topUp(second.id, credits(5), 'more', now)
    assert.deepEqual(await accounts.subAccounts(main.id), [
      { account: { ...first, locked: true }, balance: 30 },
      { account: second, balance: 5 },
    ])
    assert.deepEqual(await accounts.subAccounts(first.id), [], 'of a sub account')
    assert.deepEqual(await accounts.subAccounts(stranger), [], 'of nobody')
  },

  'a lock is set and removed, is visible at once, and setting it twice succeeds': async (ports) => {
    const { accounts } = ports
    const { id, login } = await anAccount(ports)
    const sibling = await anAccount(ports)
    await issued(accounts, id, newKey('locked'))
    for (const locked of [true, true, false, false]) {
      assert.equal(await accounts.setLocked(id, locked), true)
      assert.equal((await accounts.find(id))?.account.locked, locked)
      assert.equal((await accounts.byLogin(login))?.account.locked, locked)
      assert.equal((await accounts.byKey(hash('locked'), now))?.locked, locked)
    }
    await accounts.setLocked(id, true)
    assert.equal((await accounts.find(sibling.id))?.account.locked, false, 'another account')
  },

  'a change of an account is visible at once, and omitted fields do not change': async (ports) => {
    const { accounts } = ports
    const trial = { ownNumber: aNumber() }
    const { id, ...first } = await anAccount(ports, { credits: 70, trial, password: password('kept') })
    const other = await anAccount(ports)
    await issued(accounts, id, newKey('its'))
    let expected = { id, ...first }
    for (const { trial, ...change } of [
      {},
      { from: ['192.0.2.0/24', '2001:db8::/32'], requestsPerSecond: 5, recipientsPerSecond: 1000 },
      { from: [], requestsPerSecond: null, callingCode: '43' as CallingCode },
      { transactional: true },
      { callingCode: null },
      { firstName: 'Grace', surname: '' },
      { trial: null },
      { login: 'Renamed', trial: { ownNumber: aNumber('27831234567') } },
      { login: 'RENAMED', transactional: false },
    ]) {
      const request = trial === undefined ? change : { ...change, trial }
      assert.equal(await accounts.change(id, request), 'changed')
      const limit = 'requestsPerSecond' in change ? change.requestsPerSecond : expected.requestsPerSecond
      expected = {
        ...expected,
        ...change,
        requestsPerSecond: limit ?? undefined,
        callingCode: ('callingCode' in change ? change.callingCode : expected.callingCode) ?? undefined,
        ...(trial === undefined ? {} : { trial: trial ?? undefined }),
      }
      assert.deepEqual(await accounts.find(id), { account: expected, balance: 70 })
      assert.deepEqual(await accounts.byLogin(expected.login), { account: expected, password: password('kept') })
      assert.deepEqual(await accounts.byKey(hash('its'), now), expected)
    }
    assert.equal(await accounts.byLogin(first.login), undefined, 'the old login')
    assert.deepEqual((await accounts.find(other.id))?.account, other)
    assert.equal(await accounts.change(other.id, { login: first.login }), 'changed', 'it is free again')
    await assertLedger(ports)
  },

  'accounts are found by a part of login, name, number, code or e-mail address, by id and in pages': async (ports) => {
    const { accounts } = ports
    const trial = { ownNumber: aNumber('27829998877') }
    const [ann, bob, cid] = [
      await anAccount(ports, { login: 'Zz-Shop_%', trial }),
      await anAccount(ports, { login: 'zz-depot' }),
      await anAccount(ports),
    ]
    await accounts.change(ann.id, { firstName: 'Mary Zq', surname: 'Wollstone' })
    await accounts.change(bob.id, { firstName: 'Bob', surname: 'Šipka' })
    await ports.senders.assign('30977' as SenderAddress, cid.id)
    await ports.people.users.add(
      cid.id,
      { email: 'Zz.Clerk@acme.example', role: 'reader' },
      { hash: hash(`link ${cid.id}`), seconds: 60 },
    )
    const found = async (part: string, page: Partial<Parameters<Accounts['search']>[1]> = {}) =>
      (await accounts.search(part, { limit: 10, ...page })).map(({ account }) => account.id)
    assert.deepEqual(await found('ZZ-'), [ann.id, bob.id])
    assert.deepEqual(await found('zz-', { limit: 1 }), [ann.id])
    assert.deepEqual(await found('zz-', { after: ann.id }), [bob.id])
    assert.deepEqual(await found('zq woll'), [ann.id])
    assert.deepEqual(await found('_%'), [ann.id])
    assert.deepEqual(await found('Šipka'), [bob.id])
    assert.deepEqual(await found('9998877'), [ann.id])
    assert.deepEqual(await found('3097'), [cid.id])
    assert.deepEqual(await found('zz.clerk@'), [cid.id])
    assert.deepEqual(await found('zz-nobody'), [])
    assert.deepEqual((await accounts.search('zz-d', { limit: 1 }))[0], await accounts.find(bob.id))
    assert.deepEqual(
      await accounts.logins([ann.id, stranger, bob.id]),
      new Map([
        [ann.id, 'Zz-Shop_%'],
        [bob.id, 'zz-depot'],
      ]),
    )
    assert.deepEqual(await accounts.logins([]), new Map())
  },

  'a login that another account has, in any letter case, is refused, and the whole change has no effect': async (
    ports,
  ) => {
    const { accounts } = ports
    const [account, other] = [await anAccount(ports), await anAccount(ports, { login: 'Taken' })]
    assert.equal(await accounts.change(account.id, { login: 'tAKEN', transactional: true }), 'login-taken')
    assert.equal(await accounts.change(stranger, { login: 'free' }), 'no-such-account')
    assert.deepEqual((await accounts.find(account.id))?.account, account)
    assert.equal((await accounts.byLogin('taken'))?.account.id, other.id)
    assert.equal(typeof (await open(accounts, { login: 'free' })), 'number')
  },

  'of concurrent changes to one login one succeeds; concurrent changes of different fields are all applied': async (
    ports,
  ) => {
    const { accounts } = ports
    const opened = await Promise.all(Array.from({ length: 16 }, () => anAccount(ports)))
    const results = await Promise.all(opened.map(({ id }) => accounts.change(id, { login: 'wanted' })))
    assert.equal(results.filter((result) => result === 'changed').length, 1)
    assert.equal(results.filter((result) => result === 'login-taken').length, 15)
    const winner = opened[results.indexOf('changed')] ?? assert.fail('nobody got it')
    assert.equal((await accounts.byLogin('wanted'))?.account.id, winner.id)
    const trial = { ownNumber: aNumber() }
    const changes = [{ firstName: 'A' }, { surname: 'B' }, { transactional: true }, { trial }, { login: 'final' }]
    await Promise.all(changes.map((change) => accounts.change(winner.id, change)))
    const seen = (await accounts.find(winner.id))?.account
    assert.deepEqual(seen, { ...winner, firstName: 'A', surname: 'B', transactional: true, trial, login: 'final' })
  },

  'a password belongs to one account, and a new one replaces the old one': async (ports) => {
    const { accounts } = ports
    const { id, login } = await anAccount(ports, { password: password('first') })
    const other = await anAccount(ports)
    assert.equal((await accounts.byLogin(login.toUpperCase()))?.password, password('first'))
    assert.equal(await accounts.setPassword(id, password('second')), true)
    assert.equal((await accounts.byLogin(login))?.password, password('second'))
    assert.equal((await accounts.byLogin(other.login))?.password, undefined)
    assert.equal(await accounts.setPassword(id, undefined), true)
    assert.equal((await accounts.byLogin(login))?.password, undefined)
    assert.equal((await accounts.readLogin(login))?.password, undefined)
  },

  'a user name leads to the same account, in any letter case, whether cached or read from the store': async (ports) => {
    const { accounts } = ports
    const { id, login } = await anAccount(ports, { password: password('first') })
    for (const name of [login, login.toUpperCase(), 'nobody', 'K\u212A']) {
      assert.deepEqual(await accounts.readLogin(name), await accounts.byLogin(name), name)
    }
    assert.equal((await accounts.readLogin(login))?.account.id, id)
    await accounts.setPassword(id, password('second'))
    assert.equal((await accounts.readLogin(login))?.password, password('second'))
  },

  'operations on an unknown account report that and create nothing': async (ports) => {
    const { accounts, ledger } = ports
    assert.equal(await accounts.find(stranger), undefined)
    assert.equal(await accounts.byLogin('nobody'), undefined)
    assert.equal(await accounts.byKey(hash('nothing'), now), undefined)
    assert.equal(await accounts.setLocked(stranger, true), false)
    assert.equal(await accounts.setPassword(stranger, password('x')), false)
    assert.equal(await accounts.issueKey(stranger, newKey('x'), now), undefined)
    assert.equal(await accounts.byKey(hash('x'), now), undefined)
    assert.deepEqual(await accounts.keys(stranger), [])
    assert.equal(await accounts.revokeKey(noKey, now), false)
    assert.deepEqual(await ledger.check(), { accounts: 0, balances: 0, differences: [] })
  },

  'of concurrent requests to issue a key for one operation one succeeds, and later ones are repetitions': async (
    ports,
  ) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const operation = '3f2b8a52-6f5e-4b7e-9d5c-0d7f6f3c1a11'
    const issue = (name: string) => accounts.issueKey(id, newKey(name), now, operation)
    const issued = await Promise.all(Array.from({ length: concurrentCallers }, (_, at) => issue(`of-${at}`)))
    assert.equal(issued.filter((key) => typeof key === 'number').length, 1)
    assert.deepEqual(new Set(issued.filter((key) => typeof key !== 'number')), new Set(['repeated']))
    assert.equal(await issue('later'), 'repeated')
    assert.equal((await accounts.keys(id)).length, 1)
    assert.equal(typeof (await accounts.issueKey(id, newKey('other'), now)), 'number')
  },

  'an account has several keys, each opens only that account, and they are listed by id without their hashes': async (
    ports,
  ) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const other = await anAccount(ports)
    const expires = secondsAfter(now, 3600)
    const first = await issued(accounts, id, newKey('first'))
    const others = await issued(accounts, other.id, newKey('others'))
    const second = await issued(accounts, id, newKey('second', expires))
    assert.equal((await accounts.byKey(hash('first'), now))?.id, id)
    assert.equal((await accounts.byKey(hash('second'), now))?.id, id)
    assert.equal((await accounts.byKey(hash('others'), now))?.id, other.id)
    assert.ok(first < second && new Set([first, second, others]).size === 3)
    const shown = { account: id, issued: now, revoked: undefined }
    assert.deepEqual(await accounts.keys(id), [
      { ...shown, id: first, prefix: 'first', label: 'key of first', expires: undefined, from: [] },
      { ...shown, id: second, prefix: 'second', label: 'key of second', expires, from: [] },
    ])
  },

  'a key is valid until the millisecond before its expiry': async (ports) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const expires = secondsAfter(now, 3600)
    await issued(accounts, id, newKey('mortal', expires))
    assert.equal((await accounts.byKey(hash('mortal'), instant(expires - 1)))?.id, id)
    assert.equal(await accounts.byKey(hash('mortal'), expires), undefined)
    assert.equal(await accounts.byKey(hash('mortal'), secondsAfter(expires, 1)), undefined)
  },

  'a key is valid only from its networks, not from an unknown origin; its networks can be changed and removed': async (
    ports,
  ) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const from = ['192.0.2.0/24', '2001:db8::/32']
    const key = await issued(accounts, id, { ...newKey('bound'), from })
    const networksAsked: (readonly string[])[] = []
    const opens = async (answer: boolean) => {
      const account = await accounts.byKey(hash('bound'), now, (networks) => {
        networksAsked.push(networks)
        return answer
      })
      return account?.id === id
    }
    assert.deepEqual([await opens(true), await opens(false)], [true, false])
    assert.equal(await accounts.byKey(hash('bound'), now), undefined)
    assert.equal(await accounts.setKeyFrom(key, ['198.51.100.7']), true)
    assert.equal(await opens(true), true)
    assert.deepEqual(networksAsked, [from, from, ['198.51.100.7']])
    assert.deepEqual((await accounts.keys(id))[0]?.from, ['198.51.100.7'])
    assert.equal(await accounts.setKeyFrom(key, []), true)
    assert.equal((await accounts.byKey(hash('bound'), now))?.id, id)
    assert.equal(await accounts.setKeyFrom(noKey, []), false)
  },

  'a revoked key is invalid and still listed, and other keys stay valid': async (ports) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const lost = await issued(accounts, id, newKey('lost'))
    await issued(accounts, id, newKey('kept'))
    assert.equal((await accounts.byKey(hash('lost'), now))?.id, id)
    assert.equal(await accounts.revokeKey(lost, secondsAfter(now, 5)), true)
    assert.equal(await accounts.byKey(hash('lost'), secondsAfter(now, 5)), undefined)
    assert.equal((await accounts.byKey(hash('kept'), secondsAfter(now, 5)))?.id, id)
    assert.equal(await accounts.revokeKey(lost, secondsAfter(now, 9)), true, 'once more')
    assert.deepEqual(
      (await accounts.keys(id)).map(({ revoked }) => revoked),
      [secondsAfter(now, 5), undefined],
      'the first time stays',
    )
  },

  'of concurrent revocations of one key the first one sets its time, which never changes': async (ports) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const key = await issued(accounts, id, newKey('hot'))
    const seen = await Promise.all(
      Array.from({ length: concurrentCallers }, async (_, i) => {
        assert.equal(await accounts.revokeKey(key, secondsAfter(now, i)), true)
        return (await accounts.keys(id))[0]?.revoked
      }),
    )
    assert.equal(new Set(seen).size, 1)
    assert.notEqual(seen[0], undefined)
    assert.equal(await accounts.byKey(hash('hot'), now), undefined)
  },

  'keys that are issued concurrently are all stored, each with its own id': async (ports) => {
    const { accounts } = ports
    const { id } = await anAccount(ports)
    const names = Array.from({ length: concurrentCallers }, (_, i) => `${i}-race`)
    const ids = await Promise.all(names.map((name) => issued(accounts, id, newKey(name))))
    assert.equal(new Set(ids).size, concurrentCallers)
    const shown = await accounts.keys(id)
    assert.deepEqual(
      shown.map((key) => key.id),
      ids.toSorted((a, b) => a - b),
    )
    for (const name of names) assert.equal((await accounts.byKey(hash(name), now))?.id, id)
  },
}
