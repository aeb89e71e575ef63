import { wrapCarrier, type Carrier, type CarrierId, type SubmissionAnswer } from '@gateway/core/dispatch'
import { createCarrierMeter, type CarrierMeter } from '@gateway/core/fleet'
import type { Inbox, Received } from '@gateway/core/inbox'
import type { Clock } from '@gateway/core/time'
import type { Log } from '@gateway/server'

type Outcome = SubmissionAnswer['outcome']

/** Wraps a carrier to count its answers by outcome, and their consequences. */
export function countAnswers(
  carrier: Carrier,
  clock: Clock,
): {
  readonly carrier: Carrier
  readonly answers: Readonly<Record<Outcome, number>>
  readonly meter: CarrierMeter
} {
  const meter = createCarrierMeter()
  const answers = { accepted: 0, partly: 0, refused: 0, 'refused-for-now': 0, unknown: 0 }
  const counted = wrapCarrier(carrier, {
    listen: (handlers) =>
      carrier.listen({
        ...handlers,
        receipts: async (some) => {
          const strangers = await handlers.receipts(some)
          const found = strangers.length === 0 ? some : some.filter((one) => !strangers.includes(one))
          meter.received(found, clock.now())
          return strangers
        },
      }),
    submit: (messages, answered) =>
      carrier.submit(messages, (some) => {
        for (const { outcome } of some) answers[outcome]++
        meter.answered(messages, some, clock.now())
        answered(some)
      }),
  })
  return { carrier: counted, answers, meter }
}

export type InboundCounts = Readonly<Record<Received, number>>

/** Wraps an inbox to count the inbound messages of a carrier. */
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
    log.debug({ carrier, ...now }, 'inbound messages received')
    return received
  }
  return { inbox: { ...inbox, receive }, inboundMessages }
}

const noneReceived = (): Record<Received, number> => ({ stored: 0, repeated: 0, incomplete: 0 })
