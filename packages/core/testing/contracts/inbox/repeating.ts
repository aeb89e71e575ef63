import * as fc from 'fast-check'
import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { acceptInboundMessages, carrierId } from '@gateway/core/dispatch'
import { addPart, joinParts, type InboundMessagePart, type Received, type WaitingPart } from '@gateway/core/inbox'
import { instant } from '@gateway/core/time'
import { anAccount } from '../../builders.ts'
import { otherCarrier } from '../delivery-receipts/sent-messages.ts'
import { concurrentCallers, checkGenerated, testCarrier, type Contract } from '../shared.ts'
import { anInboundMessage, confirmation, receive, sent, texts } from './inbound-messages.ts'

const group = (number: number, of = 3, name = 7) => ({ group: name, number, of })
const textOf = ({ group, number }: InboundMessagePart, version: number) => `${group}.${number}.${version} `
const time = instant(Date.UTC(2026, 9, 18, 8))

const parts = fc.array(
  fc.record({
    group: fc.nat({ max: 2 }),
    number: fc.integer({ min: 1, max: 3 }),
    version: fc.nat({ max: 1 }),
    call: fc.boolean(),
  }),
  {
    minLength: 5,
    maxLength: 30,
  },
)

/** Contract of repetitions and of texts in several parts. */
export const repeating: Contract<StoredPorts> = {
  'a message that several processes accept concurrently outside a dispatcher is stored once per carrier': async (
    ports,
  ) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const { carrier: _, ...message } = anInboundMessage({ reference: 'callback', text: 'once' })
    const accept = acceptInboundMessages(ports, confirmation)
    const results = await Promise.all(Array.from({ length: 8 }, () => accept(testCarrier, [message])))
    assert.equal(results.flat().filter((result) => result === 'stored').length, 1)
    assert.deepEqual(await accept(otherCarrier, [message]), ['stored'])
    assert.deepEqual(await texts(ports, id), ['once', 'once'])
  },

  'a message under the name of an ended hand-over is a new message': async (ports) => {
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

  'generated parts are joined by the rules, however they are divided into calls': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const expected: string[] = []
    let round = 0
    await checkGenerated(parts, 8, async (all) => {
      const waiting = new Map<number, readonly WaitingPart[]>()
      const joined = new Set<string>()
      const results: Received[] = []
      const calls: { readonly part: InboundMessagePart; readonly text: string }[][] = [[]]
      for (const { group: name, number, version, call } of all) {
        const part = group(number, 3, 10 * round + name)
        if (call) calls.push([])
        calls.at(-1)?.push({ part, text: textOf(part, version) })
        const added = addPart(waiting.get(name) ?? [], part, textOf(part, version))
        if (added.isRepeated || joined.has(textOf(part, version))) {
          results.push('repeated')
          continue
        }
        waiting.set(name, added.waiting)
        for (const whole of [added.over, added.complete]) {
          if (whole === undefined) continue
          expected.push(joinParts(whole))
          for (const { text } of whole) joined.add(text)
        }
        results.push(added.complete === undefined ? 'incomplete' : 'stored')
      }
      const partResults: Received[] = []
      for (const call of calls) partResults.push(...(await receive(ports, ...call)))
      assert.deepEqual((await texts(ports, id)).toSorted(), expected.toSorted())
      // 'stored' and 'incomplete' are treated alike, because a call whose answer was lost is repeated and then reports
      // the state of its parts at that time.
      const words = (one: Received) => (one === 'stored' || one === 'incomplete' ? 'accepted' : one)
      assert.deepEqual(partResults.map(words), results.map(words))
      round++
    })
  },

  'a message with the same carrier id is stored once; ids of different carriers are separate': async (ports) => {
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

  'without an id, messages with the same numbers, text and time are the same; with different ids they are not': async (
    ports,
  ) => {
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

  'without an id and a time a message is a repetition only if the link offers it again': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    assert.deepEqual(await receive(ports, {}, {}, { offer: 'pdu 1' }), ['stored', 'stored', 'stored'])
    assert.deepEqual(await receive(ports, {}, { offer: 'pdu 1' }, { offer: 'pdu 2' }), ['stored', 'repeated', 'stored'])
    assert.equal((await texts(ports, id)).length, 5)
  },

  'a message that is handed over concurrently is stored once': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const results = await Promise.all(
      Array.from({ length: concurrentCallers }, (_, i) =>
        receive(ports, { reference: `m${i % 4}` }, { reference: 'all' }),
      ),
    )
    assert.equal(results.flat().filter((one) => one === 'stored').length, 5)
    assert.equal((await texts(ports, id)).length, 5)
  },

  'parts in any order become one text once all have arrived': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const parts = ['one \ud83d', '\ude00 two ', 'three'].map((text, i) => ({ text, part: group(i + 1) }))
    assert.deepEqual(await receive(ports, parts[2] ?? {}, parts[0] ?? {}), ['incomplete', 'incomplete'])
    assert.deepEqual(await texts(ports, id), [])
    assert.deepEqual(await receive(ports, parts[1] ?? {}), ['stored'])
    assert.deepEqual(await texts(ports, id), ['one 😀 two three'])
  },

  'a repeated part counts once, while it waits and after its text was joined': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const [one, two] = [
      { text: 'one ', part: group(1, 2) },
      { text: 'two', part: group(2, 2) },
    ]
    assert.deepEqual(await receive(ports, one, one), ['incomplete', 'repeated'])
    assert.deepEqual(await receive(ports, one), ['repeated'])
    assert.deepEqual(await receive(ports, two, two, one), ['stored', 'repeated', 'repeated'])
    assert.deepEqual(await receive(ports, one, two), ['repeated', 'repeated'])
    assert.deepEqual(await texts(ports, id), ['one two'])
    // The sender uses the group number again for another text.
    assert.deepEqual(await receive(ports, { ...one, text: 'new ' }, two), ['incomplete', 'repeated'])
    assert.deepEqual(await receive(ports, { ...two, text: 'text' }), ['stored'])
    assert.deepEqual(await texts(ports, id), ['one two', 'new text'])
  },

  'if two parts are handed over concurrently several times, one text is stored': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const both = [1, 2].map((number) => ({ text: `${number}`, part: group(number, 2) }))
    await Promise.all(Array.from({ length: concurrentCallers }, (_, i) => receive(ports, both[i % 2] ?? {})))
    assert.deepEqual(await texts(ports, id), ['12'])
  },

  'repeated parts of an incomplete text that was released are recognized': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const lonely = { text: 'lonely', part: group(2, 2) }
    await receive(ports, lonely)
    await ports.inbox.releaseParts(-60, 10, confirmation)
    assert.deepEqual(await receive(ports, lonely), ['repeated'])
    assert.deepEqual(await texts(ports, id), ['lonely'])
  },

  'an escape or a byte order mark of one part applies to the next part': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const gsm = (octets: string) => ({ coding: 'gsm-7', octets }) as const
    const ucs2 = (octets: string) => ({ coding: 'ucs-2', octets }) as const
    const all = [
      { text: '1', part: { ...group(1, 2, 1), coded: gsm('311b') } },
      { text: 'e2', part: { ...group(2, 2, 1), coded: gsm('6532') } },
      { text: 'П', part: { ...group(1, 2, 2), coded: ucs2('fffe1f04') } },
      { text: '?', part: { ...group(2, 2, 2), coded: ucs2('40040000') } },
    ]
    await receive(ports, ...all.toReversed())
    assert.deepEqual((await texts(ports, id)).toSorted(), ['1€2', 'Пр'])
  },

  'parts of different texts, numbers and addresses are not mixed': async (ports) => {
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

  'a repeated part changes nothing; a part of another text with the same group releases the first text': async (
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

  'a message with an impossible part number is a whole text': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const odd = [group(1, 1), group(0, 2), group(3, 2), group(1, 256)].map((part, i) => ({ part, text: `text ${i}` }))
    assert.deepEqual(
      await receive(ports, ...odd),
      odd.map(() => 'stored'),
    )
    assert.equal((await texts(ports, id)).length, 4)
  },

  'parts whose other parts never arrive are released in their order': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    await receive(ports, { text: 'three', part: group(3) }, { text: 'one ', part: group(1) })
    assert.equal(await ports.inbox.releaseParts(3600, 10, confirmation), 0)
    assert.equal(await ports.inbox.releaseParts(-1, 10, confirmation), 1)
    assert.deepEqual(await texts(ports, id), ['one three'])
    assert.equal(await ports.inbox.releaseParts(-1, 10, confirmation), 0)
  },

  'two processes that hand over the last parts concurrently complete a text once': async (ports) => {
    const { id } = await anAccount(ports)
    await sent(ports, { id })
    const names = Array.from({ length: 16 }, (_, i) => i)
    const brought = names.flatMap((name) => [1, 2].map((number) => ({ text: `${name}`, part: group(number, 2, name) })))
    await Promise.all(brought.map((one) => receive(ports, one)))
    assert.deepEqual([...(await texts(ports, id))].sort(), names.map((name) => `${name}${name}`).sort())
  },
}
