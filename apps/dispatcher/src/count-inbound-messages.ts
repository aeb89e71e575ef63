import type { CarrierId, Inbox, Received } from '@gateway/core'
import type { Log } from '@gateway/server'

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
