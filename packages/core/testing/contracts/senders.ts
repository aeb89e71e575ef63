import { strict as assert } from 'node:assert'
import { accountId, type Account, type StoredPorts } from '@gateway/core'
import { aNumber, anAccount, anAddress, numbers } from '../builders.ts'
import type { Contract } from './contract.ts'
import { at, callersMany } from './shared.ts'

const pool = ['12025550111', '12025550112', '12025550113'].map((text) => anAddress(text))
const [short, long] = [anAddress('40404'), anAddress('12025550199')]

const someAccounts = async (ports: StoredPorts, count: number): Promise<readonly Account[]> => {
  const accounts: Account[] = []
  for (let i = 0; i < count; i++) accounts.push(await anAccount(ports))
  return accounts
}

/** What the port `Senders` promises. */
export const sendersContract: Contract<StoredPorts> = {
  'the choice for an account and a number stays, whatever is asked beside it': async (ports) => {
    const { id } = await anAccount(ports)
    const first = await ports.senders.choose(id, numbers(20), pool)
    assert.equal(first.length, 20)
    assert.ok(first.every((address) => pool.includes(address)))
    assert.deepEqual(await ports.senders.choose(id, numbers(40), pool).then((all) => all.slice(0, 20)), first)
    assert.deepEqual(await ports.senders.choose(id, numbers(20).toReversed(), pool), first.toReversed())
    assert.deepEqual(await ports.senders.choose(id, [], pool), [])
  },

  'a number that is given twice gets one answer': async (ports) => {
    const { id } = await anAccount(ports)
    const [a, b, c] = await ports.senders.choose(id, [aNumber(), aNumber(), aNumber()], pool)
    assert.ok(a !== undefined && a === b && b === c)
  },

  'a number hears each account from another address while there are enough': async (ports) => {
    const accounts = await someAccounts(ports, 3)
    for (const number of numbers(5)) {
      const heard: string[] = []
      for (const { id } of accounts) heard.push(...(await ports.senders.choose(id, [number], pool)))
      assert.deepEqual(heard.toSorted(), pool)
    }
  },

  'so it does when they all ask at the same time': async (ports) => {
    const accounts = await someAccounts(ports, 3)
    const wanted = numbers(50)
    const answers = await Promise.all(
      Array.from({ length: callersMany }, (_, i) =>
        ports.senders.choose(at(accounts, i % 3).id, i % 2 === 0 ? wanted : wanted.toReversed(), pool),
      ),
    )
    const inOrder = answers.map((answer, i) => (i % 2 === 0 ? answer : answer.toReversed()))
    for (const [n] of wanted.entries()) {
      assert.equal(new Set(inOrder.map((answer) => answer[n])).size, 3)
      for (let i = 0; i < 3; i++) {
        assert.equal(new Set(inOrder.filter((_, caller) => caller % 3 === i).map((answer) => answer[n])).size, 1)
      }
    }
  },

  'more accounts than addresses share them; each keeps its own': async (ports) => {
    const accounts = await someAccounts(ports, 5)
    const choose = async () =>
      Promise.all(accounts.map(async ({ id }) => at(await ports.senders.choose(id, [aNumber()], pool), 0)))
    const first = await choose()
    assert.equal(new Set(first).size, 3)
    assert.deepEqual(await choose(), first)
  },

  'an address that is no longer in the pool is chosen anew': async (ports) => {
    const { id } = await anAccount(ports)
    const before = at(await ports.senders.choose(id, [aNumber()], pool), 0)
    const rest = pool.filter((address) => address !== before)
    const after = at(await ports.senders.choose(id, [aNumber()], rest), 0)
    assert.ok(rest.includes(after))
    assert.equal(at(await ports.senders.choose(id, [aNumber()], pool), 0), after)
  },

  'a code belongs to one account at a time, which is seen with the account': async (ports) => {
    const [one, two] = [await anAccount(ports), await anAccount(ports)]
    assert.deepEqual(await ports.senders.assigned(), [])
    assert.equal(await ports.senders.assign(short, one.id), 'assigned')
    assert.equal(await ports.senders.assign(short, one.id), 'already')
    assert.equal(await ports.senders.assign(short, two.id), 'taken')
    assert.equal(await ports.senders.assign(long, one.id), 'assigned')
    assert.deepEqual((await ports.accounts.find(one.id))?.account.shortCodes, [short, long])
    assert.deepEqual((await ports.accounts.byLogin(one.login))?.account.shortCodes, [short, long])
    assert.deepEqual((await ports.accounts.find(two.id))?.account.shortCodes, [])
    assert.deepEqual(await ports.senders.assigned(), [
      { code: long, account: one.id },
      { code: short, account: one.id },
    ])
    assert.equal(await ports.senders.release(short), true)
    assert.equal(await ports.senders.release(short), false)
    assert.equal(await ports.senders.assign(short, two.id), 'assigned')
    assert.deepEqual((await ports.accounts.find(one.id))?.account.shortCodes, [long])
    assert.deepEqual((await ports.accounts.find(two.id))?.account.shortCodes, [short])
  },

  'a code cannot be given to an account that is not there': async (ports) => {
    assert.equal(await ports.senders.assign(short, accountId(99_999) ?? assert.fail()), 'no-such-account')
    assert.deepEqual(await ports.senders.assigned(), [])
    assert.equal(await ports.senders.release(long), false)
  },

  'of many who want a code one gets it': async (ports) => {
    const accounts = await someAccounts(ports, 8)
    const told = await Promise.all(accounts.map(({ id }) => ports.senders.assign(short, id)))
    assert.deepEqual(told.toSorted(), ['assigned', ...Array.from({ length: 7 }, () => 'taken')])
    assert.equal((await ports.senders.assigned()).length, 1)
  },
}
