import { anAddress, aNumber } from '@gateway/core/testing'
import { addPart, deduplicationKeyOf, isPart, joinParts, type InboundMessage } from './inbound-message.ts'
import { optKeywordOf, readInboundMessage } from './receive.ts'

const read = (message: Partial<Parameters<typeof readInboundMessage>[0]>) =>
  readInboundMessage({ from: aNumber(), to: anAddress(), text: 'hi', ...message })

test.each([
  ['+27820000000', '27820000000', aNumber()],
  [' 27820000000 ', '27820000000', aNumber()],
  ['0820000000', '0820000000', undefined],
  ['INFO', 'INFO', undefined],
  ['', '', undefined],
  ['a\0b\nc', 'abc', undefined],
  ['x'.repeat(200), 'x'.repeat(32), undefined],
])('from %j', (from, stored, number) => expect(read({ from })).toMatchObject({ from: stored, number }))

test('characters that no store accepts become U+FFFD; a whole surrogate pair stays', () => {
  expect(read({ text: '\0\ud83d\ude00 \ud83d ' }).text).toBe('\ufffd😀 \ufffd ')
})

test('a keyword is recognized in the text as stored', () => {
  expect(read({ text: ' stop ' }).keyword).toBe('opt-out')
  expect(read({ text: 'opt\0out' }).keyword).toBe('opt-out')
})

test('parts are joined by their numbers, and a surrogate pair that they split is whole again', () => {
  const part = (number: number, text: string) => ({ number, text })
  expect(joinParts([part(3, 'c'), part(1, 'a\ud83d'), part(2, '\ude00b')])).toBe('a😀bc')
  expect(joinParts([part(3, 'c'), part(1, 'a')])).toBe('ac')
})

test('user data is decoded together with that of the directly following part, otherwise on its own', () => {
  const gsm = (number: number, octets: string) => ({ number, text: '?', coded: { coding: 'gsm-7', octets } as const })
  expect(joinParts([gsm(2, '65'), gsm(1, '611b')])).toBe('a€')
  expect(joinParts([gsm(3, '65'), gsm(1, '611b')])).toBe('ae')
  expect(joinParts([gsm(1, '611b'), { number: 2, text: 'plain' }, gsm(3, '65')])).toBe('aplaine')
})

test('a byte order mark before a text and U+0000 after it are removed (ruling 1.32)', () => {
  expect(read({ text: '\ufeffSTOP\0\0' })).toMatchObject({ text: 'STOP', keyword: 'opt-out' })
  expect(read({ text: `${'\0'.repeat(100_000)}a` }).text).toHaveLength(100_001)
})

test('a text is complete when all its parts have arrived, and a part number that already waits begins another text', () => {
  const [a, b] = [
    { number: 1, text: 'a' },
    { number: 2, text: 'b' },
  ]
  const none = { over: undefined, complete: undefined, isRepeated: false }
  expect(addPart([], { number: 1, of: 2 }, 'a')).toEqual({ ...none, waiting: [a] })
  expect(addPart([a], { number: 2, of: 2 }, 'b')).toEqual({ ...none, complete: [a, b], waiting: [] })
  expect(addPart([a], { number: 1, of: 2 }, 'a')).toEqual({ ...none, waiting: [a], isRepeated: true })
  expect(addPart([a], { number: 1, of: 2 }, 'c')).toEqual({
    ...none,
    over: [a],
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

test('deduplication keys of different kinds never collide', () => {
  const fields = deduplicationKeyOf({ ...message, sent: 5 as NonNullable<InboundMessage['sent']> })
  const all = [
    deduplicationKeyOf({ ...message, reference: 'a' }),
    deduplicationKeyOf({ ...message, offer: 'a' }),
    fields,
  ]
  expect(new Set(all).size).toBe(3)
  expect(deduplicationKeyOf(message)).toBeUndefined()
})

describe('texts that opt out (ruling 1.21)', () => {
  test.each([
    ...['Stop', 'stop', 'STOP', 'sToP', 'End', 'CANCEL', 'Unsubscribe', 'quit'],
    ...['stop ', ' stop', '\n\tstop\r\n', '\u00a0stop\u00a0'],
    ...['Stop sending me this', 'stop send', 'STOP SENDER', 'stop sendmail'],
    ...[
      'opt out',
      'Opt out of this',
      'OPT OUT',
      'opt-out',
      'opt.out now',
      'OPT😀OUT',
      'optXout',
      'opt\nout',
      'opt\tout',
    ],
    ...['opt_outside', '  Opt/out  '],
  ])('%j', (text) => expect(optKeywordOf(text)).toBe('opt-out'))
})

describe('texts that only resemble a keyword are ordinary replies', () => {
  test.each([
    ...['', ' ', 'stopping', 'please stop', 'STOP.', 'stop!', '"stop"', 'stop it', 'st op', 'stop stop', 'stop\u200b'],
    ...['ending', 'the end', 'cancelled', 'unsubscribe me', 'quit it', 'stops', 'end.'],
    ...['stopsend', 'stop  send', 'stop-send', 'dont stop send'],
    ...['optout', 'opt  out', 'opt--out', 'opt', 'out', 'opt ou', 'opt👩‍👧out', 'adopt out', 'please opt out'],
    ...['ſtop', 'QUİT', 'quıt', 'CANCEL\u0131', 'UNSUBSCRİBE', 'ＳＴＯＰ', 'стоп'],
  ])('%j', (text) => expect(optKeywordOf(text)).toBeUndefined())
})

describe('texts that opt in again (ruling 1.22)', () => {
  test.each(['start', 'START', ' Start ', 'unstop', 'UnStop\n'])('%j', (text) =>
    expect(optKeywordOf(text)).toBe('opt-in'),
  )
  test.each(['starting', 'start.', 'please start', 'un stop', 'start start', 'restart', 'ſtart'])(
    '%j does not',
    (text) => expect(optKeywordOf(text)).toBeUndefined(),
  )
})
