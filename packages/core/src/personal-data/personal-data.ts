import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import { receiptMatching } from '../dispatch/match-delivery-receipt.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'
import type { BulkRow, BulkSend } from '../bulk-sends/bulk-sends.ts'
import type { DecidedLocation, FoundLocation } from '../messages/message-traces.ts'
import type { MessageId } from '../messages/messages.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import { isFinal } from '../messages/status-code.ts'
import type { Suppression } from '../suppressions/suppressions.ts'
import { daysBefore, type Instant } from '../time/instant.ts'

/** What stands where a number was erased: nobody can have it, and nothing can be sent to it. */
export const erasedNumber = '0' as Msisdn

/** The forms in which a network tells the number of whoever writes. */
export const formsOf = (number: Msisdn): readonly string[] => [number, `+${number}`, `00${number}`]

/** An inbound message from a number, whoever it belongs to. */
export interface HeldInbound {
  readonly id: InboundMessageId
  /** Undefined: nobody's. */
  readonly account: AccountId | undefined
  readonly to: string | undefined
  readonly at: Instant
  readonly text: string
}

/**
 * An address by which an account wrote to a number: remembered for replies, and so that it hears the account by the
 * same one again.
 */
export interface HeldContact {
  readonly account: AccountId
  readonly address: SenderAddress
}

/** An opt-out or a block: erasing keeps it, for it is what keeps further messages from the number. */
export interface HeldSuppression {
  /** Undefined: it holds for everybody. */
  readonly account: AccountId | undefined
  readonly kind: Suppression
  readonly since: Instant
  /** Of the reply that opted out. */
  readonly text: string | undefined
}

/** A row of the list of a send in bulk: its recipient has no message of it yet, or got none. */
export interface HeldListRow {
  readonly send: Pick<BulkSend, 'id' | 'account' | 'state' | 'created' | 'columns' | 'text'>
  readonly row: BulkRow
  /** Its call has begun to be sent, or will be: another list would be another request under the key of the call. */
  readonly isBeingSent: boolean
}

export const erasureSteps = ['messages', 'inbound', 'contacts', 'events'] as const

/** Where an erasure is: what it works on, and behind which of these, in a form of the store's own. */
export interface ErasureStep {
  readonly at: (typeof erasureSteps)[number]
  readonly after: string
}

export const firstErasureStep: ErasureStep = { at: 'messages', after: '' }

/** The step behind all of this kind; undefined: that was the last. */
export function nextKindOf({ at }: ErasureStep): ErasureStep | undefined {
  const next = erasureSteps[erasureSteps.indexOf(at) + 1]
  return next && { at: next, after: '' }
}

/** How many of each were changed. Events: lists of events for webhooks, and rows of those that wait for one. */
export type ErasedCounts = Readonly<Record<(typeof erasureSteps)[number], number>>

export const nothingErased: ErasedCounts = { messages: 0, inbound: 0, contacts: 0, events: 0 }

export type ErasureId = Brand<number, 'ErasureId'>

export interface Erasure {
  readonly id: ErasureId
  /** Stands for the number, and can be made by whoever has the key and knows the number (`SecretBox.digestsOf`). */
  readonly digest: string
  /** Who did it, in words. */
  readonly by: string
  readonly begun: Instant
  /** Undefined: it was broken off, or is at work. */
  readonly ended: Instant | undefined
  readonly erased: ErasedCounts
}

interface ErasableMessage {
  readonly place:
    Pick<DecidedLocation, 'place' | 'code' | 'at'> | { readonly place: Exclude<FoundLocation['place'], 'decided'> }
}

/**
 * Returns why a message is not erased yet; undefined if it is. Either the message waits, or a receipt may still come,
 * which finds the message by its number. Stores decide this in their statements as well.
 */
export function holdsUp({ place }: ErasableMessage, now: Instant): 'waits' | 'awaits-receipt' | undefined {
  if (place.place !== 'decided') return 'waits'
  return !isFinal(place.code) && place.at > daysBefore(now, receiptMatching.keptDays) ? 'awaits-receipt' : undefined
}

/** What is stored of the owner of a number, to be shown and to be erased. */
export interface PersonalData {
  /** Texts of messages; those that are not there are not in the map. */
  texts(ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, string>>
  /** In the order in which they came, read in pieces. */
  inbound(number: Msisdn): AsyncIterable<HeldInbound>
  /** By account and address. */
  contacts(number: Msisdn): Promise<readonly HeldContact[]>
  /** By account, those of everybody first, and kind. */
  suppressions(number: Msisdn): Promise<readonly HeldSuppression[]>
  /** By send and row. */
  listed(number: Msisdn): Promise<readonly HeldListRow[]>
  /**
   * One bounded step. The number is replaced by `erasedNumber` in messages that are decided (`holdsUp`) and in their
   * events, in inbound messages and in theirs; texts by nothing: those from the number, that of a send once none of its
   * numbers is left, and those of replies that opted out. Inbound messages are offered no more. Contacts are
   * forgotten. In rows of sends in bulk, but those that are being sent (`HeldListRow`), the number is replaced, too,
   * and their fields are forgotten.
   * No state, cost, count, opt-out or block changes. Each step may be repeated, and several may work at once.
   */
  erase(
    number: Msisdn,
    step: ErasureStep,
  ): Promise<{ readonly erased: ErasedCounts; readonly next: ErasureStep | undefined }>
  begin(erasure: Pick<Erasure, 'digest' | 'by'>): Promise<ErasureId>
  end(id: ErasureId, erased: ErasedCounts): Promise<void>
  /** The latest first. */
  erasures(): Promise<readonly Erasure[]>
}
