import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { OUTCOME, type MessageId, type MessageReference } from '@gateway/core/messages'
import { firstErasureStep } from '@gateway/core/personal-data'
import { anAccount, anOrder, aReference, numbers } from '../../builders.ts'
import { eventsOf } from '../../events-of.ts'
import {
  accepted,
  at,
  collect,
  dispatchDue,
  farAhead,
  longAgo,
  statusesOf,
  testCarrier,
  type Contract,
} from '../shared.ts'
import { added, aWebhook, pushAll, replayed } from '../webhooks/an-endpoint.ts'

/** References with characters that JSON and PostgreSQL arrays escape. */
const [one, other] = [aReference('order "7", {a}\\n é 😀 NULL'), aReference('null')]
const mixed = [one, undefined, other, one]

const referencesOf = async (ports: StoredPorts, by: AccountId, ids: readonly MessageId[]) =>
  (await statusesOf(ports, by, ids)).map((status) => (typeof status === 'string' ? status : status.reference))

async function sendMixed(ports: StoredPorts, by: AccountId, more: { due?: typeof farAhead; text?: string } = {}) {
  const { ids } = await accepted(ports, anOrder(by, { to: numbers(4), references: mixed, ...more }))
  return ids
}

const deliver = (ports: StoredPorts) => dispatchDue(ports, 'single', () => ({ outcome: 'unknown' }))

const found = async (ports: StoredPorts, reference: MessageReference, more: object = {}) =>
  (await ports.sentMessages.search({ reference, ...more }, longAgo, 100)).map((message) => message.id)

/** Contract of client references in every port that stores them (ruling 1.28). */
export const referencing: Contract<StoredPorts> = {
  'a status has the reference of its message, waiting or decided; messages without one have none': async (ports) => {
    const { id: by } = await anAccount(ports)
    const ids = await sendMixed(ports, by)
    const { ids: plain } = await accepted(ports, anOrder(by, { to: numbers(2) }))
    const all = [...ids, ...plain]
    assert.deepEqual(await referencesOf(ports, by, all), [...mixed, undefined, undefined])
    await deliver(ports)
    const later = await sendMixed(ports, by, { due: farAhead })
    assert.deepEqual(await referencesOf(ports, by, [...later, ...all].reverse()), [
      ...[undefined, undefined, ...mixed.toReversed()],
      ...mixed.toReversed(),
    ])
    assert.ok(
      (await statusesOf(ports, by, plain)).every((status) => typeof status === 'object' && !('reference' in status)),
    )
    const { id: stranger } = await anAccount(ports)
    assert.deepEqual(
      await ports.messages.status(stranger, ids, longAgo),
      ids.map(() => 'not-found'),
    )
  },

  'if some recipients are refused for lack of credits, the others keep their own references': async (ports) => {
    const { id: by } = await anAccount(ports, { credits: 30 })
    const order = anOrder(by, { to: numbers(4), costs: [10, 60, 10, 10], references: [one, other, undefined, other] })
    const { ids } = await accepted(ports, order)
    assert.deepEqual(await referencesOf(ports, by, ids), [one, undefined, other])
  },

  'every page of the scheduled messages has references': async (ports) => {
    const { id: by } = await anAccount(ports)
    await sendMixed(ports, by, { due: farAhead })
    await accepted(ports, anOrder(by, { to: numbers(1), due: farAhead }))
    const all = [...mixed, undefined]
    for (const offset of [0, 1, 3, 4]) {
      const { items } = await ports.messages.scheduled(by, { offset, limit: 2 })
      assert.deepEqual(
        items.map(({ reference }) => reference),
        all.slice(offset, offset + 2),
      )
      assert.ok(items.every((item) => item.reference !== undefined || !('reference' in item)))
    }
  },

  'events have the references of their messages, however lists are divided, and again after a replay': async (
    ports,
  ) => {
    const { id: by } = await anAccount(ports)
    const webhook = await added(ports, aWebhook(by, { listSize: 3 }))
    await sendMixed(ports, by)
    await accepted(ports, anOrder(by, { to: numbers(1) }))
    await deliver(ports)
    const pushedReferences = async () =>
      (await pushAll(ports)).flatMap(eventsOf).map(({ data }) => ('reference' in data ? data.reference : undefined))
    assert.deepEqual(await pushedReferences(), [...mixed, undefined])
    await replayed(ports, webhook, { kind: 'period', from: longAgo, to: farAhead })
    assert.deepEqual(await pushedReferences(), [...mixed, undefined])
  },

  'messages are found by their reference in every place, optionally by account and number': async (ports) => {
    const [{ id: a }, { id: b }] = [await anAccount(ports), await anAccount(ports)]
    const sent = await sendMixed(ports, a)
    await deliver(ports)
    const queued = await sendMixed(ports, b)
    const later = await sendMixed(ports, a, { due: farAhead })
    const pick = (ids: readonly MessageId[], ...places: number[]) => places.flatMap((place) => ids[place] ?? [])
    assert.deepEqual(await found(ports, other), [...pick(later, 2), ...pick(queued, 2), ...pick(sent, 2)])
    assert.deepEqual(await found(ports, one, { account: a }), [...pick(later, 3, 0), ...pick(sent, 3, 0)])
    const [number] = numbers(1)
    assert.deepEqual(await found(ports, one, { number }), [...pick(later, 0), ...pick(queued, 0), ...pick(sent, 0)])
    assert.deepEqual(await found(ports, aReference('order')), [])
    const [latest] = await ports.sentMessages.search({ reference: other }, longAgo, 1)
    assert.deepEqual([latest?.number, latest?.reference, latest?.place.place], [numbers(3)[2], other, 'scheduled'])
    const claimRequest = {
      carrier: testCarrier,
      lane: 'single',
      messagesMax: 10,
      markedMax: 0,
      leaseSeconds: 600,
    } as const
    const batch = await ports.claimedBatches.claim(await ports.claimedBatches.register(600), claimRequest)
    assert.ok(typeof batch === 'object')
    assert.deepEqual(await found(ports, other, { account: b }), pick(queued, 2))
    assert.equal((await ports.sentMessages.trace(at(queued, 2)))?.reference, other)
    assert.equal((await ports.sentMessages.trace(at(queued, 1)))?.reference, undefined)
  },

  'erasing a number erases the references of its messages everywhere, and no others': async (ports) => {
    const { id: by } = await anAccount(ports)
    await added(ports, aWebhook(by))
    const ids = await sendMixed(ports, by)
    await dispatchDue(ports, 'single', () => ({ outcome: 'refused' }))
    const [first, , third] = numbers(4)
    for (const number of [first, third]) {
      assert.ok(number)
      for (let step = firstErasureStep; ;) {
        const { next } = await ports.personalData.erase(number, step)
        if (next === undefined) break
        step = next
      }
    }
    assert.deepEqual(await referencesOf(ports, by, ids), [undefined, undefined, undefined, one])
    assert.deepEqual(await found(ports, other), [])
    const data = (await pushAll(ports)).flatMap(eventsOf).map((event) => event.data)
    assert.deepEqual(
      data.map((each) => ('reference' in each ? each.reference : undefined)),
      [...[undefined, undefined, undefined], one],
    )
    assert.ok(data.every((each) => 'code' in each && each.code === OUTCOME.refused))
  },

  'a debit has a reference if all its messages have the same one': async (ports) => {
    const { id: by } = await anAccount(ports)
    for (const references of [[one, one], mixed, [one, undefined], [undefined, one], undefined])
      await accepted(ports, anOrder(by, { to: numbers(2), ...(references && { references }) }))
    const movements = await collect(flat(ports.ledger.movements(by, {}, 90)))
    const debitReferences = movements.map(({ cause }) => cause.kind === 'send' && (cause.reference ?? 'none'))
    assert.deepEqual(debitReferences, [false, one, 'none', 'none', 'none', 'none'])
  },
}

async function* flat<T>(pieces: AsyncIterable<readonly T[]>): AsyncIterable<T> {
  for await (const piece of pieces) yield* piece
}
