import type { Account } from '../account/account.ts'
import { limits } from '../limits.ts'
import type { Ports } from '../ports.ts'
import { daysBefore, type Instant } from '../time/instant.ts'
import type { MessageTrace } from './message-traces.ts'
import type { MessageId, MessageStatus } from './messages.ts'
import type { SentCount, SentMessage } from './sent-messages.ts'

export interface ShownMessage extends SentMessage {
  readonly status: MessageStatus
}

export interface ShownPage {
  readonly messages: readonly ShownMessage[]
  /** Whether there are more after these. */
  readonly more: boolean
}

/** What the account sent in the last 90 days, the latest first, each with its status; read one after the other. */
export const listSent =
  (ports: Pick<Ports, 'sentMessages' | 'messages' | 'clock'>) =>
  async (account: Account, page: { readonly after?: MessageId | undefined; limit: number }): Promise<ShownPage> => {
    const since = daysBefore(ports.clock.now(), limits.statusDays)
    const { after, limit } = page
    const found = await ports.sentMessages.list(account.id, { after, since, limit: limit + 1 })
    const sent = found.slice(0, limit)
    const statuses = await ports.messages.status(
      account.id,
      sent.map(({ id }) => id),
      since,
    )
    const messages = sent.map((one, at) => ({ ...one, status: statuses[at] ?? ('not-found' as const) }))
    return { messages, more: found.length > limit }
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

/** So many messages at the most are counted by state. */
export const countedMax = 10_000

/** What became of the latest messages of the account, of those that were accepted from `since` on. */
export const countSent =
  (ports: Pick<Ports, 'sentMessages'>) =>
  (account: Account, since: Instant): Promise<readonly SentCount[]> =>
    ports.sentMessages.count(account.id, since, countedMax)
