import type { Carrier, CarrierId, Inbox, Received, SubmissionAnswer } from '@gateway/core'
import type { Log } from '@gateway/server'

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
    ...(carrier.room && { room: carrier.room }),
    ...(carrier.handBack && { handBack: carrier.handBack }),
    listen: (handlers) => carrier.listen(handlers),
    close: (deadline) => carrier.close(deadline),
    submit: (messages, answered) =>
      carrier.submit(messages, (some) => {
        for (const { outcome } of some) answers[outcome]++
        answered(some)
      }),
    ...(carrier.availability && { availability: carrier.availability }),
    ...(carrier.setMode && { setMode: carrier.setMode }),
    ...(carrier.onAvailability && { onAvailability: carrier.onAvailability }),
    ...(carrier.status && { status: carrier.status }),
  }
  return { carrier: counted, answers }
}

export type InboundCounts = Readonly<Record<Received, number>>

/** The same inbox, and how much of a carrier it received since it was made. */
export function countInboundMessages(
  inbox: Inbox,
  carrier: CarrierId,
  log: Pick<Log, 'debug'>,
): { readonly inbox: Inbox; readonly inboundMessages: InboundCounts } {
  const inboundMessages = noneReceived()
  const receive: Inbox['receive'] = async (some, confirmation) => {
    const received = await inbox.receive(some, confirmation)
    const now = noneReceived()
    for (const result of received) {
      inboundMessages[result]++
      now[result]++
    }
    log.debug({ carrier, ...now }, 'what people wrote')
    return received
  }
  return { inbox: { ...inbox, receive }, inboundMessages }
}

const noneReceived = (): Record<Received, number> => ({ stored: 0, repeated: 0, incomplete: 0 })
