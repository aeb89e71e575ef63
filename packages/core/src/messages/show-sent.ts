import type { Account } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { gatewayDay } from '../time/gateway-time.ts'
import { daysBefore, type Instant } from '../time/instant.ts'
import type { Traffic } from './daily-sums.ts'
import type { MessageTrace } from './message-trace.ts'
import type { MessageId } from './message-id.ts'
import type { MessageStatus } from './messages.ts'
import type { LastSend, SentMessage } from './sent-messages.ts'

export interface ShownMessage extends SentMessage {
  readonly status: MessageStatus
}

export interface ShownPage {
  readonly messages: readonly ShownMessage[]
  /** True if the list may continue. With a filter, it is possible that none of the remaining messages matches. */
  readonly more: boolean
  /** Value of `after` for the next page. */
  readonly next: MessageId | undefined
}

export interface SentMessageQuery {
  /** Lists only messages after this one. */
  readonly after?: MessageId | undefined
  readonly limit: number
  readonly since?: Instant | undefined
  /** Exclusive upper bound of the time of acceptance. */
  readonly until?: Instant | undefined
  /** Filter by status. If omitted, every message matches. */
  readonly fits?: ((status: MessageStatus) => boolean) | undefined
}

/** Limits while a filter is applied: the number of messages read in one query, and in all queries of one call. */
const scanLimits = { perQuery: 500, total: 5000 }

/**
 * Lists the messages that the account sent in the last 90 days, latest first, each with its status. A filter reads at
 * most the next 5000 messages; `next` continues after them.
 */
export const listSent =
  (ports: Pick<Ports, 'sentMessages' | 'messages' | 'clock'>) =>
  async (account: Account, { after, limit, fits, ...bounds }: SentMessageQuery): Promise<ShownPage> => {
    const oldest = daysBefore(ports.clock.now(), limits.statusDays)
    const since = bounds.since !== undefined && bounds.since > oldest ? bounds.since : oldest
    const found: ShownMessage[] = []
    let last = after
    let isMore = true
    for (let read = 0; found.length <= limit && isMore && read < scanLimits.total;) {
      const size = fits === undefined ? limit + 1 : scanLimits.perQuery
      const sent = await ports.sentMessages.list(account.id, { after: last, since, until: bounds.until, limit: size })
      const statuses = await ports.messages.status(
        account.id,
        sent.map(({ id }) => id),
        oldest,
      )
      const shown = sent.map((one, at) => ({ ...one, status: statuses[at] ?? ('not-found' as const) }))
      found.push(...(fits === undefined ? shown : shown.filter(({ status }) => fits(status))))
      read += sent.length
      last = sent.at(-1)?.id ?? last
      isMore = sent.length === size
    }
    const messages = found.slice(0, limit)
    const more = found.length > limit || (fits !== undefined && isMore)
    return { messages, more, next: found.length > limit ? messages.at(-1)?.id : last }
  }

/** Message with everything that its account holder may know. */
export interface SentMessageDetails extends ShownMessage {
  readonly trace: MessageTrace
}

/**
 * Returns undefined for an id that is unknown or belongs to another account and for a message that is too old: these
 * look the same (P-10).
 */
export const showSent =
  (ports: Pick<Ports, 'sentMessages' | 'messages' | 'clock'>) =>
  async (account: Account, id: MessageId): Promise<SentMessageDetails | undefined> => {
    const since = daysBefore(ports.clock.now(), limits.statusDays)
    const sent = await ports.sentMessages.find(account.id, id)
    if (sent === undefined) return undefined
    const [[status = 'not-found'], trace] = await Promise.all([
      ports.messages.status(account.id, [id], since),
      ports.sentMessages.trace(id),
    ])
    return status === 'not-found' || trace?.account !== account.id ? undefined : { ...sent, status, trace }
  }

/** Minimum number of recipients; a smaller send says little about how many people opt out. */
const manyRecipientsMin = 20
const lastSendDays = 7

/**
 * Returns the latest send to many people and how many of them opted out in answer to it. Returns undefined if there was
 * none within a week.
 */
export const lastSend =
  (ports: Pick<Ports, 'sentMessages' | 'clock'>) =>
  (account: Account): Promise<LastSend | undefined> =>
    ports.sentMessages.lastSend(account.id, daysBefore(ports.clock.now(), lastSendDays), manyRecipientsMin)

/** Returns the traffic of today by carrier, and the accounts with the most messages. */
export const showTraffic =
  (ports: Pick<Ports, 'dailySums' | 'clock'>) =>
  async (accountsMax: number): Promise<Traffic> => {
    const today = gatewayDay(ports.clock.now())
    const [byCarrier, busiest] = await Promise.all([
      ports.dailySums.byCarrier(today),
      ports.dailySums.busiest(today, accountsMax),
    ])
    return { byCarrier, busiest }
  }
