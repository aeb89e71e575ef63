import fc from 'fast-check'
import { codeOfState, momentOf, readReceiptText } from './read-receipt-text.ts'

test.each([
  ['id:1A2b sub:001 dlvrd:001 submit date:2601021200 done date:2601021201 stat:DELIVRD err:000 text:hi', '1A2b', 0],
  ['id:0118Z-0122I-23 sub:000 dlvrd:000 submitdate:260102120001 stat:REJECTD err:375 text:', '0118Z-0122I-23', 107],
  ['ID:7 SUB:1 STAT:undeliv ERR:0A2 Text: id:9 stat:DELIVRD', '7', 103],
  ['stat:EXPIRED id:00042', '00042', 101],
  ['id: "77" stat: DELETED', '77', 102],
  ['id:1 stat:ACCEPTD', '1', 105],
  ['id:1 stat:ENROUTE', '1', 105],
  ['id:1 stat:UNKNOWN', '1', 106],
  ['id:1 stat:FAILED', '1', 213],
  ['id:1 stat:NONSENSE', '1', 106],
  ['id:1', '1', undefined],
  ['text:id:1 stat:DELIVRD', undefined, undefined],
])('%j is of message %j and says %j', (text, id, code) => {
  expect(readReceiptText(text)).toMatchObject({ id, code })
})

test('any text is read without an error', () => {
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => typeof readReceiptText(text) === 'object'))
})

test('message_state in the order of the standard; what it does not have is unknown', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 77].map(codeOfState)).toEqual([
    105, 105, 0, 101, 102, 103, 105, 106, 107, 213, 106,
  ])
})

test.each([
  ['2601021200', 0, '2026-01-02T12:00:00.000Z'],
  ['260102120007', 120, '2026-01-02T10:00:07.000Z'],
  ['20260102120007', -330, '2026-01-02T17:30:07.000Z'],
])('%s at %i minutes is %s', (digits, offset, moment) => {
  expect(new Date(momentOf(digits, offset) ?? 0).toISOString()).toBe(moment)
})

test.each(['0000000000', '2613021200', 'abc'])('%s is no time', (digits) => {
  expect(momentOf(digits, 0)).toBeUndefined()
})
