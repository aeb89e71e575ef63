import type { CarrierId, Inbox, Received } from '@gateway/core'
import type { Log } from '@gateway/server'

export type ArrivalCounts = Readonly<Record<Received, number>>

/** The same inbox, and how much of a carrier it received since it was made. */
export function countArrivals(
  inbox: Inbox,
  carrier: CarrierId,
  log: Pick<Log, 'debug'>,
): { readonly inbox: Inbox; readonly arrivals: ArrivalCounts } {
  const arrivals = noArrivals()
  const receive: Inbox['receive'] = async (some, confirmation) => {
    const received = await inbox.receive(some, confirmation)
    const now = noArrivals()
    for (const result of received) {
      arrivals[result]++
      now[result]++
    }
    log.debug({ carrier, ...now }, 'what people wrote')
    return received
  }
  return { inbox: { ...inbox, receive }, arrivals }
}

const noArrivals = (): Record<Received, number> => ({ stored: 0, repeated: 0, incomplete: 0 })
