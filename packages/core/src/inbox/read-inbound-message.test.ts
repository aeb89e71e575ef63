import { anAddress, aNumber } from '@gateway/core/testing'
import type { InboundMessage } from './inbound-message.ts'
import { deduplicationKeyOf } from './inbound-message.ts'
import { addPart, isPart, joinParts } from './join-parts.ts'
import { readInboundMessage } from './read-inbound-message.ts'

const read = (wanted: Partial<Parameters<typeof readInboundMessage>[0]>) =>
  readInboundMessage({ from: aNumber(), to: anAddress(), text: 'hi', ...wanted })

test.each([
  ['+27820000000', '27820000000', aNumber()],
  [' 27820000000 ', '27820000000', aNumber()],
  ['0820000000', '0820000000', undefined],
  ['INFO', 'INFO', undefined],
  ['', '', undefined],
  ['a\0b\nc', 'abc', undefined],
  ['x'.repeat(200), 'x'.repeat(32), undefined],
])('from %j', (from, stored, number) => expect(read({ from })).toMatchObject({ from: stored, number }))

test('what no store holds becomes U+FFFD; a whole pair stays', () => {
  expect(read({ text: '\ud83d\ude00 \ud83d \0' }).text).toBe('😀 \ufffd \ufffd')
})

test('a keyword is read from the text as it is stored', () => {
  expect(read({ text: ' stop ' }).keyword).toBe('opt-out')
  expect(read({ text: 'opt\0out' }).keyword).toBe('opt-out')
})

test('parts are joined by their numbers, and a pair that they split is whole again', () => {
  const part = (number: number, text: string) => ({ number, text })
  expect(joinParts([part(3, 'c'), part(1, 'a\ud83d'), part(2, '\ude00b')])).toBe('a😀bc')
  expect(joinParts([part(3, 'c'), part(1, 'a')])).toBe('ac')
})

test('a text is complete with as many parts as it has, and a number that waits already begins another', () => {
  const [a, b] = [
    { number: 1, text: 'a' },
    { number: 2, text: 'b' },
  ]
  expect(addPart([], { number: 1, of: 2 }, 'a')).toEqual({ over: undefined, complete: undefined, waiting: [a] })
  expect(addPart([a], { number: 2, of: 2 }, 'b')).toEqual({ over: undefined, complete: [a, b], waiting: [] })
  expect(addPart([a], { number: 1, of: 2 }, 'c')).toEqual({
    over: [a],
    complete: undefined,
    waiting: [{ number: 1, text: 'c' }],
  })
  expect(addPart([a], { number: 1, of: 1 }, 'c')).toMatchObject({ over: [a], complete: [{ text: 'c' }], waiting: [] })
})

const message: InboundMessage = {
  carrier: 'c' as InboundMessage['carrier'],
  from: aNumber(),
  to: undefined,
  text: 'x',
  sent: undefined,
  reference: undefined,
  offer: undefined,
  part: undefined,
}

test.each([
  [undefined, false],
  [{ group: 0, number: 1, of: 1 }, false],
  [{ group: 0, number: 1, of: 2 }, true],
  [{ group: 0, number: 255, of: 255 }, true],
  [{ group: 0, number: 0, of: 2 }, false],
  [{ group: 0, number: 3, of: 2 }, false],
  [{ group: 0, number: 1, of: 256 }, false],
])('part %j', (part, expected) => expect(isPart({ ...message, part })).toBe(expected))

test('an id of one kind is never the same as one of another', () => {
  const fields = deduplicationKeyOf({ ...message, sent: 5 as NonNullable<InboundMessage['sent']> })
  const all = [
    deduplicationKeyOf({ ...message, reference: 'a' }),
    deduplicationKeyOf({ ...message, offer: 'a' }),
    fields,
  ]
  expect(new Set(all).size).toBe(3)
  expect(deduplicationKeyOf(message)).toBeUndefined()
})
