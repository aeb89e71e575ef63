import { wrapCarrier, type Carrier, type SubmissionAnswer } from '@gateway/core/dispatch'
import type { Tracing } from '@gateway/server'

/** Wraps a carrier to record each submission as a span with the ids of the message here and at the carrier. */
export function traceCarrier(carrier: Carrier, { ended }: Pick<Tracing, 'ended'>): Carrier {
  const submit: Carrier['submit'] = (submissions, answered) => {
    const begun = performance.now()
    const traceAnswer = (answer: SubmissionAnswer): void =>
      ended({
        name: 'submit',
        kind: 'outgoing',
        begun,
        attributes: {
          'gateway.carrier': carrier.id,
          'gateway.message.id': String(answer.id),
          'gateway.outcome': answer.outcome,
          ...('reference' in answer && {
            'gateway.carrier.references': [answer.reference, ...(answer.furtherReferences ?? [])],
          }),
        },
        hasFailed: answer.outcome !== 'accepted',
      })
    carrier.submit(submissions, (answers) => {
      answers.forEach(traceAnswer)
      answered(answers)
    })
  }
  return wrapCarrier(carrier, { submit })
}
