import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { carrierId } from '@gateway/core/dispatch'
import { addPart, joinParts, type InboundMessagePart, type Received, type WaitingPart } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import { anAccount } from '../../builders.ts'
import { otherCarrier } from '../delivery-receipts/sent-messages.ts'
import { callersMany, checkGenerated, testCarrier, type Contract } from '../shared.ts'
import { confirmation, receive, sent, texts } from './inbound-messages.ts'

const group = (number: number, of = 3, name = 7) => ({ group: name, number, of })
const textOf = ({ group, number }: InboundMessagePart) => `${group}.${number} `
const time = instant(Date.UTC(2026, 9, 18, 8))

const parts = fc.array(
  fc.record({ group: fc.nat({ max: 2 }), number: fc.integer({ min: 1, max: 3 }), call: fc.boolean() }),
  {
    minLength: 5,
    maxLength: 30,
  },
)

/** What is taken for the same, and what is put together. */
export const repeating: Contract<StoredPorts> = {
  'what comes under the name of a hand-over that has ended is another message': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const offer = { offer: 'one', text: 'again' }
    assert.deepEqual(await receive(ports, offer, offer), ['stored', 'repeated'])
    await ports.inbox.endOffers(otherCarrier, ['one'])
    assert.deepEqual(await receive(ports, offer), ['repeated'])
    await ports.inbox.endOffers(testCarrier, ['one', 'two'])
    assert.deepEqual(await receive(ports, offer, offer), ['stored', 'repeated'])
    await ports.inbox.endOffers(testCarrier, [])
  },

  'generated parts, in whatever calls they come, are put together as the rules say': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const expected: string[] = []
    let round = 0
    await checkGenerated(parts, 8, async (all) => {
      const waiting = new Map<number, readonly WaitingPart[]>()
      const results: Received[] = []
      const calls: InboundMessagePart[][] = [[]]
      for (const { group: name, number, call } of all) {
        const part = group(number, 3, 10 * round + name)
        if (call) calls.push([])
        calls.at(-1)?.push(part)
        const added = addPart(waiting.get(name) ?? [], part, textOf(part))
        waiting.set(name, added.waiting)
        for (const whole of [added.over, added.complete]) if (whole !== undefined) expected.push(joinParts(whole))
        results.push(added.complete === undefined ? 'incomplete' : 'stored')
      }
      const told: Received[] = []
      for (const call of calls)
        told.push(...(await receive(ports, ...call.map((part) => ({ part, text: textOf(part) })))))
      assert.deepEqual((await texts(ports, id)).toSorted(), expected.toSorted())
      // A call whose answer was lost is made again: its parts are told by then as they are then.
      const words = (one: Received) => (one === 'stored' || one === 'incomplete' ? 'accepted' : one)
      assert.deepEqual(told.map(words), results.map(words))
      round++
    })
  },

  'the same id of a carrier is stored once; another carrier has ids of its own': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const other = carrierId('other') ?? assert.fail()
    assert.deepEqual(
      await receive(ports, { reference: 'a' }, { reference: 'a', text: 'changed' }, { reference: 'b' }),
      ['stored', 'repeated', 'stored'],
    )
    assert.deepEqual(await receive(ports, { reference: 'b' }, { reference: 'a', carrier: other }), [
      'repeated',
      'stored',
    ])
    assert.equal((await texts(ports, id)).length, 3)
  },

  'without an id the same numbers, text and time are the same; with other ids they are not': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const later = instant(time + 1000)
    assert.deepEqual(await receive(ports, { sent: time }, { sent: time }, { sent: later }, { sent: time, text: 'b' }), [
      'stored',
      'repeated',
      'stored',
      'stored',
    ])
    assert.deepEqual(await receive(ports, { sent: time, reference: 'x' }, { sent: time, reference: 'y' }), [
      'stored',
      'stored',
    ])
    assert.equal((await texts(ports, id)).length, 5)
  },

  'without an id and a time nothing is taken for a repetition, unless the link offers it again': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    assert.deepEqual(await receive(ports, {}, {}, { offer: 'pdu 1' }), ['stored', 'stored', 'stored'])
    assert.deepEqual(await receive(ports, {}, { offer: 'pdu 1' }, { offer: 'pdu 2' }), ['stored', 'repeated', 'stored'])
    assert.equal((await texts(ports, id)).length, 5)
  },

  'handed over by many at the same time it is stored once': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const told = await Promise.all(
      Array.from({ length: callersMany }, (_, i) => receive(ports, { reference: `m${i % 4}` }, { reference: 'all' })),
    )
    assert.equal(told.flat().filter((one) => one === 'stored').length, 5)
    assert.equal((await texts(ports, id)).length, 5)
  },

  'parts in any order become one text, once all are there': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const parts = ['one \ud83d', '\ude00 two ', 'three'].map((text, i) => ({ text, part: group(i + 1) }))
    assert.deepEqual(await receive(ports, parts[2] ?? {}, parts[0] ?? {}), ['incomplete', 'incomplete'])
    assert.deepEqual(await texts(ports, id), [])
    assert.deepEqual(await receive(ports, parts[1] ?? {}), ['stored'])
    assert.deepEqual(await texts(ports, id), ['one 😀 two three'])
  },

  'parts of several texts, numbers and addresses are not mixed': async (ports) => {
    const { id } = await anAccount(ports)
    const [a, b] = ['27820000000', '27820000001']
    await sent(ports, { id })
    await receive(
      ports,
      { text: 'a1', part: group(1, 2, 1), from: a },
      { text: 'b1', part: group(1, 2, 1), from: b },
      { text: 'x1', part: group(1, 2, 2), from: a },
      { text: 'y1', part: group(1, 3, 1), from: a },
      { text: 'a2', part: group(2, 2, 1), from: a },
    )
    assert.deepEqual(await texts(ports, id), ['a1a2'])
  },

  'a part that comes again changes nothing; one of another text under the same name lets the first go': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const first = { text: 'old 1', part: group(1, 2), reference: 'p1' }
    assert.deepEqual(await receive(ports, first, first), ['incomplete', 'repeated'])
    assert.deepEqual(await receive(ports, { text: 'new 1', part: group(1, 2) }), ['incomplete'])
    assert.deepEqual(await texts(ports, id), ['old 1'])
    assert.deepEqual(await receive(ports, { text: ' new 2', part: group(2, 2) }), ['stored'])
    assert.deepEqual(await texts(ports, id), ['old 1', 'new 1 new 2'])
  },

  'what says that it is a part and cannot be one is a whole text': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const odd = [group(1, 1), group(0, 2), group(3, 2), group(1, 256)].map((part, i) => ({ part, text: `text ${i}` }))
    assert.deepEqual(
      await receive(ports, ...odd),
      odd.map(() => 'stored'),
    )
    assert.equal((await texts(ports, id)).length, 4)
  },

  'parts that stay without the others are released as they are, in their order': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'three', part: group(3) }, { text: 'one ', part: group(1) })
    assert.equal(await ports.inbox.releaseParts(3600, 10, confirmation), 0)
    assert.equal(await ports.inbox.releaseParts(-1, 10, confirmation), 1)
    assert.deepEqual(await texts(ports, id), ['one three'])
    assert.equal(await ports.inbox.releaseParts(-1, 10, confirmation), 0)
  },

  'two processes that bring the last parts at the same moment complete a text once': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const names = Array.from({ length: 16 }, (_, i) => i)
    const brought = names.flatMap((name) => [1, 2].map((number) => ({ text: `${name}`, part: group(number, 2, name) })))
    await Promise.all(brought.map((one) => receive(ports, one)))
    assert.deepEqual([...(await texts(ports, id))].sort(), names.map((name) => `${name}${name}`).sort())
  },
}
