import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { ClaimedMessage } from '@gateway/core/dispatch'
import { optKeywordOf } from '@gateway/core/inbox'
import type { Msisdn, SenderAddress } from '@gateway/core/messages'
import { noRoute } from '@gateway/core/routes'
import { instant, secondsAfter } from '@gateway/core/time'
import { aCarrierId, anAccount, anAddress, anOrder, aNumber, numbers } from '../../builders.ts'
import { realClock } from '../../memory/clock.ts'
import {
  accepted,
  assertLedger,
  at,
  concurrentCallers,
  checkGenerated,
  collect,
  dispatchDue,
  longAgo,
  testCarrier,
  type Contract,
} from '../shared.ts'
import { confirmationAddress, replyOwner, type Contact } from '../specification/replies.ts'
import { confirmation, inboxOf, optOutsOf, receive, sent, texts } from './inbound-messages.ts'

const poolB = anAddress('12025550112')
const code = anAddress('40404')

const dispatched = (ports: StoredPorts): Promise<readonly ClaimedMessage[]> =>
  dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `c${id}` }))

/** Contract of opting out and in again (rulings 1.21 to 1.23). */
export const optingOut: Contract<StoredPorts> = {
  'STOP opts out of the account, and one free confirmation is sent from the address that STOP was sent to': async (
    ports,
  ) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const message = await sent(ports, { id }, { from: poolB })
    await receive(ports, { to: poolB, text: ' Stop ' })
    const [optOut, ...more] = await optOutsOf(ports, id)
    assert.equal(more.length, 0)
    const [reply] = await inboxOf(ports, id)
    assert.ok(optOut !== undefined)
    assert.deepEqual(optOut.reply, { id: reply?.id, text: ' Stop ', answers: message })
    assert.equal(optOut.number, aNumber())
    assert.ok(optOut.since > secondsAfter(realClock().now(), -60))
    assert.deepEqual(await ports.suppressions.matching(id, [aNumber()]), new Map([[aNumber(), new Set(['opt-out'])]]))

    const [confirming, ...others] = await dispatched(ports)
    assert.equal(others.length, 0)
    assert.ok(confirming !== undefined && confirming.id !== message)
    const { account, to, from, body, confirmation: confirms } = confirming
    assert.deepEqual(
      { account, to, from, body, confirms },
      { account: id, to: aNumber(), from: poolB, body: confirmation, confirms: true },
    )
    assert.equal(await ports.ledger.balance(id), 90)
    await assertLedger(ports)
  },

  'a repeated STOP is an ordinary reply without a second entry or confirmation': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'STOP' }, { text: 'quit' })
    await receive(ports, { text: 'Opt out please' })
    assert.equal((await dispatched(ports)).length, 1)
    await receive(ports, { text: 'stop' })
    assert.equal((await dispatched(ports)).length, 0)
    const optOuts = await optOutsOf(ports, id)
    assert.deepEqual(
      optOuts.map(({ reply }) => reply?.text),
      ['STOP'],
    )
    assert.equal((await inboxOf(ports, id)).length, 4)
  },

  'concurrent STOPs cause one confirmation per number': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await sent(ports, { id }, { to: aNumber('27820000001') })
    const from = (i: number) => (i % 2 === 0 ? '27820000000' : '27820000001')
    await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) => receive(ports, { from: from(i), text: 'STOP' })),
    )
    assert.equal((await optOutsOf(ports, id)).length, 2)
    assert.equal((await dispatched(ports)).length, 2)
    assert.equal((await inboxOf(ports, id)).length, concurrentCallers)
  },

  'a reply never answers the confirmation, and no list of the account contains it': async (ports) => {
    const { id } = await anAccount(ports)
    const message = await sent(ports, { id })
    await receive(ports, { text: 'STOP' })
    assert.equal((await ports.messages.scheduled(id, { offset: 0, limit: 10 })).total, 0)
    await dispatched(ports)
    await receive(ports, { text: 'why?' })
    assert.equal((await inboxOf(ports, id))[1]?.answers, message)
  },

  'a STOP does not opt out of sibling accounts, the main account or others': async (ports) => {
    const main = await anAccount(ports)
    const [sub, sibling] = [await anAccount(ports, { parent: main.id }), await anAccount(ports, { parent: main.id })]
    await sent(ports, sibling)
    await sent(ports, sub)
    await receive(ports, { text: 'STOP' })
    assert.equal((await ports.suppressions.matching(sub.id, [aNumber()])).size, 1)
    assert.equal((await ports.suppressions.matching(sibling.id, [aNumber()])).size, 0)
    assert.equal((await ports.suppressions.matching(main.id, [aNumber()])).size, 0)
  },

  'START and UNSTOP end the opt-out, and STOP is then confirmed again; other words have no effect': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    for (const word of ['START', ' unstop ']) {
      await receive(ports, { text: 'STOP' }, { text: 'start again' })
      assert.equal((await dispatched(ports)).length, 1)
      await receive(ports, { text: word })
      assert.equal((await ports.suppressions.matching(id, [aNumber()])).size, 0)
      assert.deepEqual(await optOutsOf(ports, id), [])
    }
    assert.equal((await dispatched(ports)).length, 0)
  },

  'STOP and START in one call take effect in their order': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'STOP' }, { text: 'START' })
    assert.equal((await ports.suppressions.matching(id, [aNumber()])).size, 0)
    await receive(ports, { text: 'START' }, { text: 'STOP' })
    assert.equal((await ports.suppressions.matching(id, [aNumber()])).size, 1)
  },

  'a manual entry has no reply, stays when STOP arrives, and is never confirmed': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const since = secondsAfter(realClock().now(), -3600)
    assert.equal(await ports.suppressions.add({ scope: id, number: aNumber(), kind: 'opt-out', since }), 'added')
    await receive(ports, { text: 'STOP' })
    const manual = { number: aNumber(), since, reply: undefined }
    assert.deepEqual(await optOutsOf(ports, id), [manual])
    assert.equal((await dispatched(ports)).length, 0)
    assert.equal(await ports.suppressions.remove({ scope: id, number: aNumber(), kind: 'opt-out' }), true)
    assert.deepEqual(await optOutsOf(ports, id), [])
  },

  'an entry that was made by a reply, removed and added by hand is manual': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'STOP' })
    const key = { scope: id, number: aNumber(), kind: 'opt-out' } as const
    await ports.suppressions.remove(key)
    await ports.suppressions.add({ ...key, since: longAgo })
    assert.deepEqual(await optOutsOf(ports, id), [{ number: aNumber(), since: longAgo, reply: undefined }])
  },

  'a STOP to a code also opts out a number that was never written to, and is confirmed from the code': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    await ports.senders.assign(code, id)
    await receive(ports, { to: code, text: 'STOP' })
    const [optOut] = await optOutsOf(ports, id)
    assert.equal(optOut?.reply?.answers, undefined)
    assert.deepEqual(
      (await dispatched(ports)).map(({ to, from, account }) => ({ to, from, account })),
      [{ to: aNumber(), from: code, account: id }],
    )
  },

  'a confirmation is queued at once in the queue of its route by number, account and sender address': async (ports) => {
    const [{ id }, other] = [await anAccount(ports), await anAccount(ports)]
    const elsewhere = aNumber('27830000001')
    await ports.senders.assign(code, id)
    await sent(ports, other, { from: poolB })
    const [first, by] = [aCarrierId('first'), { prefixes: [], accounts: [], senders: [] }]
    const carriers = [{ carrier: first, priority: 1, weight: 1 }]
    await ports.routes.publish([
      { ...by, name: 'code', prefixes: ['2782'], accounts: [id], senders: [code], carriers },
      { ...by, name: 'pool', senders: [poolB], carriers },
      { ...by, name: 'others', carriers },
    ])
    await receive(ports, { to: code, text: 'STOP' }, { to: code, text: 'STOP', from: elsewhere })
    await receive(ports, { to: poolB, text: 'STOP' })
    const routes = await ports.routes.list()
    const dispatcher = await ports.claimedBatches.register(600)
    const claimed: (readonly [route: string, account: AccountId, to: Msisdn])[] = []
    for (const queue of [noRoute, ...routes.map(({ number }) => number)]) {
      const claimRequest = {
        carrier: first,
        lane: 'single',
        queue,
        messagesMax: 10,
        markedMax: 0,
        leaseSeconds: 600,
      } as const
      const batch = await ports.claimedBatches.claim(dispatcher, claimRequest)
      for (const { id: message, account, to } of typeof batch === 'string' ? [] : batch.messages) {
        claimed.push([(await ports.sentMessages.trace(message))?.route?.name ?? 'none', account, to])
      }
    }
    assert.deepEqual(claimed, [
      ['code', id, aNumber()],
      ['pool', other.id, aNumber()],
      ['others', id, elsewhere],
    ])
    assert.equal(await ports.routes.reroute(10), 0)
  },

  'a manual opt-out is not confirmed': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const entry = { scope: id, number: aNumber(), kind: 'opt-out', since: realClock().now() } as const
    assert.equal(await ports.suppressions.add(entry), 'added')
    assert.deepEqual(await dispatched(ports), [])
  },

  'a STOP to a locked account opts out without a confirmation, and so does one from a blacklisted number': async (
    ports,
  ) => {
    const [locked, open] = [await anAccount(ports), await anAccount(ports)]
    await sent(ports, locked)
    await ports.accounts.setLocked(locked.id, true)
    await receive(ports, { text: 'STOP' })
    const blocked = aNumber('27820000001')
    await sent(ports, open, { to: blocked })
    await ports.suppressions.add({ scope: 'everybody', number: blocked, kind: 'blacklist', since: longAgo })
    await receive(ports, { from: blocked, text: 'STOP' })
    assert.equal((await optOutsOf(ports, locked.id)).length, 1)
    assert.equal((await optOutsOf(ports, open.id)).length, 1)
    assert.equal((await dispatched(ports)).length, 0)
  },

  'waiting messages to an opted-out number are claimed with that fact; confirmations are distinguished': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await accepted(ports, anOrder(id, { to: [aNumber()] }))
    await receive(ports, { text: 'STOP' })
    const claimed = await dispatched(ports)
    const facts = claimed.map(({ confirmation: confirms, suppressions }) => ({ confirms, suppressions }))
    assert.deepEqual(
      facts.toSorted((a, b) => Number(a.confirms) - Number(b.confirms)),
      [false, true].map((confirms) => ({ confirms, suppressions: new Set(['opt-out']) })),
    )
  },

  'a long list comes in pages, each number once and in order': async (ports) => {
    const { id } = await anAccount(ports)
    const all = numbers(1234)
    const key = { scope: id, kind: 'opt-out', since: longAgo } as const
    for (let i = 0; i < all.length; i += 100) {
      await Promise.all(all.slice(i, i + 100).map((number) => ports.suppressions.add({ ...key, number })))
    }
    const pieces = await collect(ports.suppressions.optOuts(id))
    assert.ok(pieces.length > 1 && pieces.every(({ length }) => length > 0))
    assert.deepEqual(
      pieces.flat().map(({ number }) => number),
      all,
    )
  },

  'a STOP that belongs to no account has no effect': async (ports) => {
    const { id } = await anAccount(ports)
    await receive(ports, { text: 'STOP' })
    assert.deepEqual(await texts(ports, id), [])
    assert.deepEqual(await optOutsOf(ports, id), [])
    assert.equal((await dispatched(ports)).length, 0)
  },
}

const poolA = anAddress('12025550111')
const generatedTexts = ['hello', 'STOP', 'Stop send', 'start', 'unstop', 'opt-out', 'why stop?'] as const
const eventsMax = 120

const events = fc.record({
  account: fc.nat({ max: 2 }),
  number: fc.nat({ max: 3 }),
  from: fc.constantFrom(poolA, poolB, code),
  /**
   * Kind of step. 0 to 2: a message is sent. 3: a message stays in flight. 4: an account is locked or unlocked. 5: the
   * blacklist changes. 6 to 9: an inbound message arrives.
   */
  kind: fc.nat({ max: 9 }),
  outcome: fc.constantFrom('accepted', 'unknown', 'refused'),
  happens: fc.boolean(),
  to: fc.constantFrom(poolA, poolB, code, anAddress('999000111'), 'untold'),
  text: fc.constantFrom(...generatedTexts),
})

/** Creates the accounts and sender addresses with which the store is compared to the rules of core. */
async function world(ports: StoredPorts) {
  const accounts = [await anAccount(ports), await anAccount(ports), await anAccount(ports)].map(({ id }) => id)
  const owner = at(accounts, 0)
  await ports.senders.assign(code, owner)
  // The store knows an address only after a message was sent from it.
  for (const from of [poolA, poolB]) await write(ports, owner, at(numbers(1, '99'), 0), from, 'refused')
  return { accounts, owner }
}

async function write(
  ports: StoredPorts,
  account: AccountId,
  to: Msisdn,
  from: SenderAddress,
  outcome: 'accepted' | 'unknown' | 'refused',
): Promise<Contact> {
  const { ids } = await accepted(ports, anOrder(account, { to: [to], senders: [from] }))
  const id = at(ids, 0)
  await dispatchDue(ports, 'single', () =>
    outcome === 'accepted' ? { outcome, reference: `agreeing ${id}` } : { outcome },
  )
  return { account, id, from, at: instant(id) }
}

/** Creates a message that may have been submitted and has no recorded outcome. */
async function leaveInFlight(
  ports: StoredPorts,
  account: AccountId,
  to: Msisdn,
  from: SenderAddress,
): Promise<Contact> {
  const { ids } = await accepted(ports, anOrder(account, { to: [to], senders: [from] }))
  const claimRequest = {
    carrier: testCarrier,
    lane: 'single',
    messagesMax: 1,
    markedMax: 1,
    leaseSeconds: 600,
  } as const
  await ports.claimedBatches.claim(await ports.claimedBatches.register(600), claimRequest)
  const id = at(ids, 0)
  return { account, id, from, at: instant(id) }
}

/**
 * Checks that stores, whose SQL statements handle many inbound messages at once, get the same results as the rules of
 * core, which handle one message. Both are run on the same generated cases.
 */
export const agreeing: Contract<StoredPorts> = {
  'in generated conversations each reply has the owner of the rules, and opts out and in by the rules': async (
    ports,
  ) => {
    const { accounts, owner } = await world(ports)
    const [sent, inFlight, optedOut] = [new Map<Msisdn, Contact[]>(), new Map<Msisdn, Contact[]>(), new Set<string>()]
    const [locked, blacklisted] = [new Set<AccountId>(), new Set<Msisdn>()]
    const add = (map: Map<Msisdn, Contact[]>, to: Msisdn, contact: Contact) =>
      map.set(to, [...(map.get(to) ?? []), contact])
    let unowned = 0

    await checkGenerated(fc.array(events, { minLength: eventsMax, maxLength: eventsMax }), 1, async (all) => {
      for (const [place, event] of all.entries()) {
        const { kind, from, outcome, happens } = event
        const [account, number] = [at(accounts, event.account), at(numbers(4), event.number)]
        if (kind < 3 && !locked.has(account)) {
          const contact = await write(ports, account, number, from, outcome)
          if (outcome !== 'refused') add(sent, number, contact)
        } else if (kind === 3 && !locked.has(account)) {
          add(inFlight, number, await leaveInFlight(ports, account, number, from))
        } else if (kind === 4) {
          await ports.accounts.setLocked(account, happens)
          if (happens) locked.add(account)
          else locked.delete(account)
        } else if (kind === 5) {
          const entry = { scope: 'everybody', number, kind: 'blacklist' } as const
          if (happens) {
            await ports.suppressions.add({ ...entry, since: longAgo })
            blacklisted.add(number)
          } else {
            await ports.suppressions.remove(entry)
            blacklisted.delete(number)
          }
        } else {
          const { to, text } = event
          const known = [poolA, poolB, code].find((one) => one === to)
          const expectedOwner = replyOwner(
            known && { address: known, owner: known === code ? owner : undefined },
            sent.get(number) ?? [],
            inFlight.get(number) ?? [],
          )
          await receive(ports, { from: number, to: to === 'untold' ? undefined : to, text })
          const where = `event ${place}: ${text} from ${number} to ${to}`
          const waiting = await confirmationsOf(ports)
          if (expectedOwner.account === undefined) {
            assert.equal((await collect(ports.inbox.unowned())).length, ++unowned, where)
            assert.deepEqual(waiting, [], where)
            continue
          }
          const stored = (await inboxOf(ports, expectedOwner.account)).at(-1)
          assert.deepEqual(
            [stored?.from, stored?.text, stored?.answers, stored?.shortCode],
            [number, text, expectedOwner.answers, expectedOwner.shortCode],
            where,
          )
          const key = `${expectedOwner.account} ${number}`
          const keyword = optKeywordOf(text)
          const address = confirmationAddress({
            isNew: keyword === 'opt-out' && !optedOut.has(key),
            accountLocked: locked.has(expectedOwner.account),
            suppressions: new Set(blacklisted.has(number) ? ['blacklist'] : []),
            address: expectedOwner.address,
          })
          if (keyword === 'opt-out') optedOut.add(key)
          if (keyword === 'opt-in') optedOut.delete(key)
          const isOptedOut = (await ports.suppressions.matching(expectedOwner.account, [number]))
            .get(number)
            ?.has('opt-out')
          assert.equal(isOptedOut ?? false, optedOut.has(key), where)
          const confirmed = address === undefined ? [] : [{ account: expectedOwner.account, to: number, from: address }]
          assert.deepEqual(waiting, confirmed, where)
        }
      }
    })
  },
}

/** Dispatches the waiting confirmations, and returns them. */
const confirmationsOf = async (ports: StoredPorts) =>
  (await dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `confirmation ${id}` }))).map(
    ({ account, to, from }) => ({ account, to, from }),
  )
