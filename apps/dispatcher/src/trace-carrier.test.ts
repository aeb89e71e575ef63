import type { Carrier, Submission, SubmissionAnswer } from '@gateway/core/dispatch'
import type { Ended } from '@gateway/server'
import { traceCarrier } from './trace-carrier.ts'

test('each answer of a carrier becomes a span with the message and its references; the carrier behaves as before', () => {
  let window = 1
  const carrier = {
    id: 'a',
    get window() {
      return window
    },
    submit: (submissions: readonly Submission[], answered: (answers: readonly SubmissionAnswer[]) => void) =>
      answered(
        submissions.map(({ id }, i) =>
          i === 0
            ? { id, outcome: 'accepted', reference: 'r1', furtherReferences: ['r2'] }
            : { id, outcome: 'refused' },
        ),
      ),
  } as unknown as Carrier
  const spans: Ended[] = []
  const traced = traceCarrier(carrier, { ended: (span) => spans.push(span) })
  let count = 0
  traced.submit([{ id: 7 }, { id: 8 }] as unknown as readonly Submission[], (answers) => (count += answers.length))
  window = 5
  expect([count, traced.window, traced.id]).toEqual([2, 5, 'a'])
  expect(spans.map(({ name, attributes, hasFailed }) => [name, attributes, hasFailed])).toEqual([
    [
      'submit',
      {
        'gateway.carrier': 'a',
        'gateway.message.id': '7',
        'gateway.outcome': 'accepted',
        'gateway.carrier.references': ['r1', 'r2'],
      },
      false,
    ],
    ['submit', { 'gateway.carrier': 'a', 'gateway.message.id': '8', 'gateway.outcome': 'refused' }, true],
  ])
})
