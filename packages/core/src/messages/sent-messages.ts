import type { AccountId } from '../accounts/account.ts'
import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { MessageId, MessageReference } from './messages.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { SendOptions } from './send-options.ts'

/** A message as its account holder sees it in a list; what became of it a status query tells. */
export interface SentMessage {
  readonly id: MessageId
  readonly number: Msisdn
  readonly text: string
  readonly parts: number
  /** When it was accepted and charged. */
  readonly accepted: Instant
  /** Undefined: to be sent at once, or its time was past. */
  readonly scheduled: Instant | undefined
  readonly options: SendOptions
  /** What was charged for it. */
  readonly cost: Credits
  readonly reference: MessageReference | undefined
  /** Undefined: accepted before messages had an address of ours. */
  readonly from: SenderAddress | undefined
}

export interface SentPage {
  /** Only what the list has after this message; nothing where the account has no such message. */
  readonly after?: MessageId | undefined
  /** Nothing that was accepted before. */
  readonly since: Instant
  /** Nothing that was accepted at this moment or later. */
  readonly until?: Instant | undefined
  readonly limit: number
}

/** A text to many, be it accepted in one call or in several. */
export interface LastSend {
  /** When its first call was accepted. */
  readonly accepted: Instant
  readonly messages: number
  /** So many of these people answered one of its messages by opting out, and have not come back. */
  readonly optedOut: number
}

/** Calls that are accepted within so many minutes of each other are one send. */
export const sameSendMinutes = 15

/** What an account has sent, for its holder. Confirmations of opt-outs are not among it. */
export interface SentMessages {
  /** The latest accepted first, then the highest id. */
  list(by: AccountId, page: SentPage): Promise<readonly SentMessage[]>
  /** Undefined: unknown, or another account's (P-10). */
  find(by: AccountId, id: MessageId): Promise<SentMessage | undefined>
  /**
   * The latest send of a call to at least `numbersMin` since then: all such calls of the quarter of an hour up to it.
   */
  lastSend(by: AccountId, since: Instant, numbersMin: number): Promise<LastSend | undefined>
}
