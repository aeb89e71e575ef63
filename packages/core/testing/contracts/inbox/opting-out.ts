import { strict as assert } from 'node:assert'
import {
  noRoute,
  secondsAfter,
  type AccountId,
  type ClaimedMessage,
  type Msisdn,
  type StoredPorts,
} from '@gateway/core'
import { aNumber, anAccount, anAddress, anOrder, numbers } from '../../builders.ts'
import { aCarrierId } from '../../ids.ts'
import { realClock } from '../../memory/clock.ts'
import type { Contract } from '../contract.ts'
import { accepted, assertLedger, callersMany, collect, dispatchDue, longAgo } from '../shared.ts'
import { confirmation, inboxOf, optOutsOf, receive, sent, texts } from './inbound-messages.ts'

const poolB = anAddress('12025550112')
const code = anAddress('40404')

const dispatched = (ports: StoredPorts): Promise<readonly ClaimedMessage[]> =>
  dispatchDue(ports, 'single', ({ id }) => ({ outcome: 'accepted', reference: `c${id}` }))

/** Opting out and in again (rulings 1.21 to 1.23). */
export const optingOut: Contract<StoredPorts> = {
  'STOP opts out of the account, and one confirmation goes out from where it was sent to, at no price': async (
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

  'a further STOP is a reply like any other: no second entry, no second confirmation': async (ports) => {
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

  'many that say STOP at the same time get one confirmation each number': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await sent(ports, { id }, { to: aNumber('27820000001') })
    const from = (i: number) => (i % 2 === 0 ? '27820000000' : '27820000001')
    await Promise.all(Array.from({ length: callersMany }, (_, i) => receive(ports, { from: from(i), text: 'STOP' })))
    assert.equal((await optOutsOf(ports, id)).length, 2)
    assert.equal((await dispatched(ports)).length, 2)
    assert.equal((await inboxOf(ports, id)).length, callersMany)
  },

  'the confirmation is passed over when a reply looks for its message, and is in no list of the account': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    const message = await sent(ports, { id })
    await receive(ports, { text: 'STOP' })
    assert.equal((await ports.messages.scheduled(id, { offset: 0, limit: 10 })).total, 0)
    await dispatched(ports)
    await receive(ports, { text: 'why?' })
    assert.equal((await inboxOf(ports, id))[1]?.answers, message)
  },

  'a sibling, the main account and others are not opted out': async (ports) => {
    const main = await anAccount(ports)
    const [sub, sibling] = [await anAccount(ports, { parent: main.id }), await anAccount(ports, { parent: main.id })]
    await sent(ports, sibling)
    await sent(ports, sub)
    await receive(ports, { text: 'STOP' })
    assert.equal((await ports.suppressions.matching(sub.id, [aNumber()])).size, 1)
    assert.equal((await ports.suppressions.matching(sibling.id, [aNumber()])).size, 0)
    assert.equal((await ports.suppressions.matching(main.id, [aNumber()])).size, 0)
  },

  'START and UNSTOP end it, and STOP then confirms again; other words do not': async (ports) => {
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

  'STOP and START in one hand-over count in their order': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'STOP' }, { text: 'START' })
    assert.equal((await ports.suppressions.matching(id, [aNumber()])).size, 0)
    await receive(ports, { text: 'START' }, { text: 'STOP' })
    assert.equal((await ports.suppressions.matching(id, [aNumber()])).size, 1)
  },

  'a manual entry has no reply, stays when STOP comes, and is confirmed to nobody': async (ports) => {
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

  'an entry that a reply made, removed and added by hand, is a manual one': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'STOP' })
    const key = { scope: id, number: aNumber(), kind: 'opt-out' } as const
    await ports.suppressions.remove(key)
    await ports.suppressions.add({ ...key, since: longAgo })
    assert.deepEqual(await optOutsOf(ports, id), [{ number: aNumber(), since: longAgo, reply: undefined }])
  },

  'a STOP to a code opts out also who was never written to; it is confirmed from the code': async (ports) => {
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

  'a confirmation waits at once in the queue of its route: by number, account and the address that it leaves from':
    async (ports) => {
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
        const wanted = {
          carrier: first,
          lane: 'single',
          queue,
          messagesMax: 10,
          markedMax: 0,
          leaseSeconds: 600,
        } as const
        const batch = await ports.claimedBatches.claim(dispatcher, wanted)
        for (const { id: message, account, to } of typeof batch === 'string' ? [] : batch.messages) {
          claimed.push([(await ports.messageTraces.of(message))?.route?.name ?? 'none', account, to])
        }
      }
      assert.deepEqual(claimed, [
        ['code', id, aNumber()],
        ['pool', other.id, aNumber()],
        ['others', id, elsewhere],
      ])
      assert.equal(await ports.routes.reroute(10), 0)
    },

  'an opt-out by hand is not confirmed': async (ports) => {
    const { id } = await anAccount(ports, { credits: 100 })
    const wanted = { scope: id, number: aNumber(), kind: 'opt-out', since: realClock().now() } as const
    assert.equal(await ports.suppressions.add(wanted), 'added')
    assert.deepEqual(await dispatched(ports), [])
  },

  'a locked account opts out, and nothing is confirmed; nor to a blacklisted number': async (ports) => {
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

  'what waits for an opted-out number is claimed with that fact; the confirmation is told apart': async (ports) => {
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

  'a long list comes in pieces, each number once and in order': async (ports) => {
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

  'a STOP that belongs to nobody opts out of nothing': async (ports) => {
    const { id } = await anAccount(ports)
    await receive(ports, { text: 'STOP' })
    assert.deepEqual(await texts(ports, id), [])
    assert.deepEqual(await optOutsOf(ports, id), [])
    assert.equal((await dispatched(ports)).length, 0)
  },
}
