import type { AccountId } from '../accounts/account.ts'
import type { CodedText } from '../inbox/coded-text.ts'
import type { AnswerDeadline } from '../messages/answer-deadline.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Incident, TracedBind } from '../messages/message-trace.ts'
import type { Order } from '../messages/messages.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { SendOptions } from '../messages/send-options.ts'
import type { OutcomeCode } from '../messages/status-code.ts'
import type { Instant } from '../time/instant.ts'
import type { SmppOptions } from './smpp-options.ts'

/** Maximum number of parts that wait for others, by default, of one account (ruling 5.2). */
export const waitingPartsMaxDefault = 10_000

/** Seconds after the latest part of a text after which its parts expire (ruling 5.2). */
export const partsExpireSeconds = 300

export interface PartOptions extends SendOptions {
  readonly smpp: SmppOptions
}

/** Part of a text, as a customer submitted it. */
export interface NewPart {
  readonly account: AccountId
  readonly number: Msisdn
  /** Sender that the customer named. */
  readonly sender: SenderAddress | undefined
  /** Addresses from which the account sends if no sender is named, as of the submission (`Order.senders`). */
  readonly senders: readonly SenderAddress[]
  /** Reference of the text with its width, such as `8:17` or `16:4711`. */
  readonly reference: string
  /** Number of parts of the text, from 2. */
  readonly total: number
  /** Place of the part, from 1. */
  readonly part: number
  readonly coded: CodedText
  /** Time at which the text is to be sent. The time of the first part applies to the whole text. */
  readonly scheduled: Instant | undefined
  readonly options: PartOptions
}

export interface StoredPart extends NewPart {
  readonly id: MessageId
}

/** All parts of a text, by their place. */
export type WholeText = readonly StoredPart[]

/** Part that belongs to no message, as operators see it. Contains nothing of the text (P-15). */
export interface LonePart {
  readonly id: MessageId
  readonly account: AccountId
  readonly number: Msisdn
  readonly part: number
  readonly total: number
  readonly bind: TracedBind
  readonly stored: Instant
  /** Undefined: the part waits for the others. */
  readonly ended: { readonly code: OutcomeCode; readonly at: Instant } | undefined
  /** Incidents of its receipts, by time. */
  readonly incidents: readonly Incident[]
}

/** Answer for a part that was stored. */
export interface StoredPartAnswer {
  readonly id: MessageId
  /**
   * Resolves to the text, if it is whole and the answers to all its parts are decided. Undefined also if the parts
   * could not be read. Never rejects.
   */
  readonly whole: Promise<WholeText | undefined>
}

/**
 * Result of storing a part. `too-many-parts`: the account has too many waiting parts. `another-part`: a part with the
 * same place and reference but with another content still waits. `overloaded`: nothing was done or will be done.
 */
export type PartAcceptance = StoredPartAnswer | 'too-many-parts' | 'another-part' | 'overloaded'

/**
 * Parts of texts that customers submit over SMPP. A part waits until its text is whole. Then it is joined, refused, or
 * expired, each of which happens once. A decided part stays known under its id as long as messages do.
 */
export interface SmppParts {
  /**
   * Stores a part under an id of its own. Of several callers that complete a text at once, at least one gets the whole
   * text. A part that waits already, with the same content, gets the first id. After the promise has resolved, the part
   * survives a crash. A part whose deadline was missed never belongs to a text that is joined, not even for a moment.
   */
  add(part: NewPart, waitingMax: number, deadline?: AnswerDeadline): Promise<PartAcceptance>
  /**
   * Accepts the order of a whole text as one message, whose id is that of the first part. If the account cannot pay or
   * is locked, refuses all parts instead. Does nothing if a part of the text no longer waits.
   */
  join(parts: readonly MessageId[], order: Order): Promise<'joined' | 'refused' | 'over'>
  /** Refuses all parts of a text with the code, at no cost. Returns false if a part of it no longer waits. */
  refuse(parts: readonly MessageId[], code: OutcomeCode): Promise<boolean>
  /** Returns texts whose last part was stored more than `seconds` ago and that nobody has joined. */
  unjoined(seconds: number, textsMax: number): Promise<readonly WholeText[]>
  /** Ends incomplete texts without a new part for `seconds` as expired (101). Returns the number of their parts. */
  expire(seconds: number, textsMax: number): Promise<number>
  /** Returns a part that waits, or ended without a message. */
  findLone(id: MessageId): Promise<LonePart | undefined>
  /** Returns the number of waiting parts of an account. */
  waiting(account: AccountId): Promise<number>
}
