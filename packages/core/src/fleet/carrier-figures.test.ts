import { aBody, aCarrierId, aMessageId, aNumber } from '@gateway/core/testing'
import { createCarrierMeter } from './carrier-figures.ts'
import type { Submission } from '../dispatch/carrier.ts'
import type { DeliveryReceiptCode } from '../dispatch/delivery-receipt.ts'
import { createHistogram } from './histogram.ts'

const submission = (id: number, to: string): Submission => ({
  ...{ id: aMessageId(id), from: undefined, to: aNumber(to), body: aBody() },
})
const receipt = (reference: string, code: DeliveryReceiptCode, to?: string) => ({
  ...{ carrier: aCarrierId('a'), reference, code, submitted: undefined },
  number: to === undefined ? undefined : aNumber(to),
})

test('a histogram counts each value once, at the first bound that it does not exceed', () => {
  const histogram = createHistogram([1, 2])
  for (const value of [0.5, 1, 1.5, 2, 7]) histogram.observe(value)
  expect(histogram.read()).toEqual({ bounds: [1, 2], counts: [2, 2, 1], sum: 12 })
})

test('answers and receipts are counted by calling code, each once, and again if they could not be stored', () => {
  const meter = createCarrierMeter()
  const messages = ['27825550101', '27825550102', '12025550100', '27825550103', '27825550104'].map((to, at) =>
    submission(at + 1, to),
  )
  const [accepted, refused, unknown, later, partly] = messages.map(({ id }) => ({ id }))
  meter.answered(
    messages,
    [
      { id: aMessageId(1), ...accepted, outcome: 'accepted', reference: 'r1', furtherReferences: ['r2'] },
      { id: aMessageId(2), ...refused, outcome: 'refused' },
      { id: aMessageId(3), ...unknown, outcome: 'unknown' },
      { id: aMessageId(4), ...later, outcome: 'refused-for-now' },
      { id: aMessageId(5), ...partly, outcome: 'partly', reference: 'r5' },
    ],
    1000,
  )
  meter.received([receipt('r1', 0, '27825550101'), receipt('r2', 103, '27825550101'), receipt('r9', 105)], 4500)
  meter.received([receipt('r9', 0)], 5000)
  const counts = [
    { prefix: '27', delivered: 1, failed: 2, unknown: 0, refused: 1 },
    { prefix: '1', delivered: 0, failed: 0, unknown: 1, refused: 0 },
    { prefix: '', delivered: 1, failed: 0, unknown: 0, refused: 0 },
  ]
  const counted = meter.take()
  expect(counted).toEqual(counts)
  expect(meter.take()).toEqual([])
  meter.putBack(counted)
  meter.putBack(counted)
  expect(meter.take()[0]).toEqual({ prefix: '27', delivered: 2, failed: 4, unknown: 0, refused: 2 })
  expect(meter.parts()).toMatchObject({ counts: [1, 1, 0, 0, 0, 0, 0, 0], sum: 3 })
  expect(meter.receiptDelay()).toMatchObject({ counts: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], sum: 3.5 })
})

test('some of the messages accepted in a second have their receipts timed, and none is remembered for long', () => {
  const meter = createCarrierMeter()
  const answer = (id: number, now: number) =>
    meter.answered([], [{ id: aMessageId(id), outcome: 'accepted', reference: `r${id}` }], now)
  for (let id = 1; id <= 100; id++) answer(id, 0)
  answer(101, 3_600_001)
  const references = Array.from({ length: 101 }, (_, at) => receipt(`r${at + 1}`, 0))
  meter.received(references, 3_600_001)
  expect(meter.receiptDelay().counts[0]).toBe(1)
})
