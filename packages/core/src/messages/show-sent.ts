import type { Account } from '../accounts/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { gatewayDay } from '../time/gateway-time.ts'
import { daysBefore, type Instant } from '../time/instant.ts'
import type { Traffic } from './daily-sums.ts'
import type { MessageTrace } from './message-traces.ts'
import type { MessageId, MessageStatus } from './messages.ts'
import type { LastSend, SentMessage } from './sent-messages.ts'

export interface ShownMessage extends SentMessage {
  readonly status: MessageStatus
}

export interface ShownPage {
  readonly messages: readonly ShownMessage[]
  /** Whether there are more after these, or may be where only some fit. */
  readonly more: boolean
  /** To be given as `after` for what follows. */
  readonly next: MessageId | undefined
}

export interface WantedSent {
  /** Only what the list has after this message. */
  readonly after?: MessageId | undefined
  readonly limit: number
  readonly since?: Instant | undefined
  /** Nothing that was accepted at this moment or later. */
  readonly until?: Instant | undefined
  /** Left out: every message. */
  readonly fits?: ((status: MessageStatus) => boolean) | undefined
}

/** So many messages are read at a time where only some of them fit, and so many in all. */
const lookedAt = { atATime: 500, most: 5000 }

/**
 * What the account sent in the last 90 days, the latest first, each with its status; read one after the other. Where
 * only some fit, those of the next 5000, and `next` to go on behind them.
 */
export const listSent =
  (ports: Pick<Ports, 'sentMessages' | 'messages' | 'clock'>) =>
  async (account: Account, { after, limit, fits, ...wanted }: WantedSent): Promise<ShownPage> => {
    const oldest = daysBefore(ports.clock.now(), limits.statusDays)
    const since = wanted.since !== undefined && wanted.since > oldest ? wanted.since : oldest
    const found: ShownMessage[] = []
    let last = after
    let isMore = true
    for (let read = 0; found.length <= limit && isMore && read < lookedAt.most;) {
      const size = fits === undefined ? limit + 1 : lookedAt.atATime
      const sent = await ports.sentMessages.list(account.id, { after: last, since, until: wanted.until, limit: size })
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

/** All that its account holder may know of a message. */
export interface ToldMessage extends ShownMessage {
  readonly trace: MessageTrace
}

/**
 * Undefined for an id that is unknown, another account's, or of a message that is too old: they look the same (P-10).
 */
export const showSent =
  (ports: Pick<Ports, 'sentMessages' | 'messages' | 'messageTraces' | 'clock'>) =>
  async (account: Account, id: MessageId): Promise<ToldMessage | undefined> => {
    const since = daysBefore(ports.clock.now(), limits.statusDays)
    const sent = await ports.sentMessages.find(account.id, id)
    if (sent === undefined) return undefined
    const [[status = 'not-found'], trace] = await Promise.all([
      ports.messages.status(account.id, [id], since),
      ports.messageTraces.of(id),
    ])
    return status === 'not-found' || trace?.account !== account.id ? undefined : { ...sent, status, trace }
  }

/** A send to fewer numbers says little of how many opt out. */
const lastSendMin = 20
const lastSendDays = 7

/** The last send to many, with how many opted out by answering it. Undefined: there was none in a week. */
export const lastSend =
  (ports: Pick<Ports, 'sentMessages' | 'clock'>) =>
  (account: Account): Promise<LastSend | undefined> =>
    ports.sentMessages.lastSend(account.id, daysBefore(ports.clock.now(), lastSendDays), lastSendMin)

/** What went through today, by carrier, and the accounts with most of it. */
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
