import type { DeliveryReceipt, Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import {
  aMessageId,
  aBody,
  anAddress,
  numbers,
  scriptedCarrier,
  until,
  type ScriptedCarrierOptions,
} from '@gateway/core/testing'

const submissions = (count: number, from = 1): readonly Submission[] =>
  numbers(count).map((to, i) => ({ id: aMessageId(from + i), from: anAddress(), to, body: aBody() }))

function setUp(options: ScriptedCarrierOptions = {}) {
  const carrier = scriptedCarrier(options)
  const answers: SubmissionAnswer[] = []
  const receipts: DeliveryReceipt[] = []
  carrier.listen({
    receipts: (some) => (receipts.push(...some), Promise.resolve([])),
    inboundMessages: () => Promise.resolve(),
  })
  const submit = (messages: readonly Submission[]) => carrier.submit(messages, (some) => void answers.push(...some))
  return { carrier, answers, receipts, submit }
}

const outcomes = (answers: readonly SubmissionAnswer[]) => answers.map(({ outcome }) => outcome)

test('an outcome decides the answer and the receipt, for each attempt anew', async () => {
  const { carrier, answers, receipts, submit } = setUp({
    outcomeOf: ({ id }, attempt) => (id === 1 && attempt === 1 ? 'refused-for-now' : id === 2 ? 'accepted' : 103),
  })
  submit(submissions(3))
  await until(() => answers.length === 3)
  submit(submissions(1))
  await until(() => answers.length === 4)
  await carrier.settled()
  expect(outcomes(answers)).toEqual(['refused-for-now', 'accepted', 'accepted', 'accepted'])
  expect(receipts.map(({ reference, code }) => [reference, code])).toEqual([
    [carrier.referenceOf(aMessageId(3)), 103],
    [carrier.referenceOf(aMessageId(1)), 103],
  ])
  expect(carrier.submitted.map(({ id }) => id)).toEqual([1, 2, 3, 1])
})

test('held submissions are answered when the test says so, and a receipt may arrive before the answer', async () => {
  const { carrier, answers, receipts, submit } = setUp({ outcomeOf: () => 'held' })
  submit(submissions(4))
  await carrier.deliver([carrier.receiptFor(aMessageId(1), OUTCOME.delivered)])
  expect([answers.length, carrier.unanswered.length, carrier.unansweredMost]).toEqual([0, 4, 4])
  expect(carrier.release('accepted', 1)).toBe(1)
  expect(answers).toEqual([{ id: 1, outcome: 'accepted', reference: receipts[0]?.reference }])
  expect(carrier.release('refused')).toBe(3)
  expect(carrier.release('refused')).toBe(0)
  expect(outcomes(answers)).toEqual(['accepted', 'refused', 'refused', 'refused'])
  expect([carrier.unanswered.length, carrier.unansweredMost]).toEqual([0, 4])
})

test('closing waits for answers until its deadline; then they are unknown, and no further message is accepted', async () => {
  const { carrier, answers, submit } = setUp({ outcomeOf: () => 'held' })
  submit(submissions(2))
  let passDeadline = (): void => undefined
  const closed = carrier.close(new Promise<void>((resolve) => (passDeadline = resolve)))
  carrier.release('accepted', 1)
  passDeadline()
  await closed
  submit(submissions(1, 9))
  await until(() => answers.length === 3)
  expect(outcomes(answers)).toEqual(['accepted', 'unknown', 'refused-for-now'])
  expect(carrier.submitted).toHaveLength(2)
})
