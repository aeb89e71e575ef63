import type { Carrier, SubmissionAnswer } from '@gateway/core'

type Outcome = SubmissionAnswer['outcome']

/** The same carrier, and how often it answered what since it was made. */
export function countAnswers(carrier: Carrier): {
  readonly carrier: Carrier
  readonly answers: Readonly<Record<Outcome, number>>
} {
  const answers = { accepted: 0, partly: 0, refused: 0, 'refused-for-now': 0, unknown: 0 }
  const counted: Carrier = {
    id: carrier.id,
    window: carrier.window,
    ...(carrier.takenMax === undefined ? {} : { takenMax: carrier.takenMax }),
    listen: (handlers) => carrier.listen(handlers),
    close: (deadline) => carrier.close(deadline),
    submit: (messages, answered) =>
      carrier.submit(messages, (some) => {
        for (const { outcome } of some) answers[outcome]++
        answered(some)
      }),
    ...(carrier.availability && { availability: carrier.availability }),
    ...(carrier.onAvailability && { onAvailability: carrier.onAvailability }),
    ...(carrier.status && { status: carrier.status }),
  }
  return { carrier: counted, answers }
}
