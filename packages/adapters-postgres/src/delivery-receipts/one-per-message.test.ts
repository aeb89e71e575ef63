import type { DeliveryReceipt, DeliveryReceiptCode } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { aCarrierId, aNumber } from '@gateway/core/testing'
import { onePerMessage } from './one-per-message.ts'

const codes = {
  ok: OUTCOME.delivered,
  failed: OUTCOME.failed,
  way: OUTCOME.underWay,
  unknown: OUTCOME.unknown,
} as const

/**
 * Parses 'b ok 1' as a receipt with reference b, state delivered and the number that ends in 1. Without a digit, the
 * receipt has no number.
 */
function receiptOf(text: string): DeliveryReceipt {
  const [reference = '', code = '', number] = text.split(' ')
  return {
    carrier: aCarrierId('sim'),
    reference,
    code: codes[code as keyof typeof codes] satisfies DeliveryReceiptCode,
    number: number === undefined ? undefined : aNumber(`2782000000${number}`),
    submitted: undefined,
  }
}

test.each([
  ['nothing', [], [[]]],
  ['the first final one', ['a way', 'a ok', 'a failed', 'a way'], [['a ok']]],
  ['else the last', ['a way 1', 'a unknown 1', 'a way 1'], [['a way 1']]],
  ['each of other numbers, in one round', ['a ok 1', 'a failed 2', 'a ok 3'], [['a ok 1', 'a failed 2', 'a ok 3']]],
  ['in the order of references', ['c ok', 'a ok', 'b ok'], [['a ok', 'b ok', 'c ok']]],
  ['with and without a number: one after the other', ['a ok', 'a failed 1'], [['a ok'], ['a failed 1']]],
  ['the other way round', ['a failed 1', 'a ok'], [['a failed 1'], ['a ok']]],
  ['in the order of those that count', ['a way', 'a failed 1', 'a ok'], [['a failed 1'], ['a ok']]],
  ['others beside them', ['a ok', 'b ok 1', 'a ok 1', 'b ok 2'], [['a ok', 'b ok 1', 'b ok 2'], ['a ok 1']]],
  ['and several numbers beside one without', ['a ok 1', 'a way', 'a ok 2'], [['a ok 1'], ['a way'], ['a ok 2']]],
])('the receipts that count: %s', (_, receipts, rounds) => {
  expect(onePerMessage(receipts.map(receiptOf))).toEqual(rounds.map((round) => round.map(receiptOf)))
})
