import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import { receiptMatching } from '../dispatch/delivery-receipt.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'
import type { BulkRow, BulkSend } from '../bulk-sends/bulk-sends.ts'
import type { DecidedLocation, FoundLocation } from '../messages/message-trace.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import { isFinal } from '../messages/status-code.ts'
import type { Suppression } from '../suppressions/suppressions.ts'
import { daysBefore, type Instant } from '../time/instant.ts'

/** Placeholder for an erased number. Nobody can have this number, and no message can be sent to it. */
export const erasedNumber = '0' as Msisdn

/** Returns the forms in which networks report the number of a sender. */
export const formsOf = (number: Msisdn): readonly string[] => [number, `+${number}`, `00${number}`]

/** Inbound message from a number, of any account or none. */
export interface StoredInbound {
  readonly id: InboundMessageId
  /** Undefined: the message belongs to no account. */
  readonly account: AccountId | undefined
  readonly to: string | undefined
  readonly at: Instant
  readonly text: string
}

/**
 * Address from which an account wrote to a number. Remembered so that replies find the account, and so that the account
 * writes to the number from the same address again.
 */
export interface StoredContact {
  readonly account: AccountId
  readonly address: SenderAddress
}

/** Opt-out or block. It is not erased, because it prevents further messages to the number. */
export interface StoredSuppression {
  /** Undefined: applies to everybody. */
  readonly account: AccountId | undefined
  readonly kind: Suppression
  readonly since: Instant
  /** Text of the reply that opted out. */
  readonly text: string | undefined
}

/** Row of a bulk send whose recipient has not received a message of this send yet, or was refused one. */
export interface StoredListRow {
  readonly send: Pick<BulkSend, 'id' | 'account' | 'state' | 'created' | 'columns' | 'text'>
  readonly row: BulkRow
  /**
   * True if the call that sends the row has started or will start. The list can no longer be changed, because the call
   * would then be a different request under the same key.
   */
  readonly isBeingSent: boolean
}

export const erasureSteps = ['messages', 'inbound', 'contacts', 'events'] as const

/**
 * Position of an erasure: the kind of data that is being erased, and a position within that kind. Only the store
 * interprets that position.
 */
export interface ErasureStep {
  readonly at: (typeof erasureSteps)[number]
  readonly after: string
}

export const firstErasureStep: ErasureStep = { at: 'messages', after: '' }

/** Returns the first step of the next kind, or undefined after the last one. */
export function nextKindOf({ at }: ErasureStep): ErasureStep | undefined {
  const next = erasureSteps[erasureSteps.indexOf(at) + 1]
  return next && { at: next, after: '' }
}

/**
 * Number of changed rows of each kind. `events` counts lists of events for webhooks and events that wait for a list.
 */
export type ErasedCounts = Readonly<Record<(typeof erasureSteps)[number], number>>

export const nothingErased: ErasedCounts = { messages: 0, inbound: 0, contacts: 0, events: 0 }

export type ErasureId = Brand<number, 'ErasureId'>

export interface Erasure {
  readonly id: ErasureId
  /** Digest of the number (`SecretBox.digestsOf`). Only a process with the key can compute it for a known number. */
  readonly digest: string
  /** Name of the operator, as text. */
  readonly by: string
  readonly begun: Instant
  /** Undefined: the erasure was interrupted or is under way. */
  readonly ended: Instant | undefined
  readonly erased: ErasedCounts
}

interface ErasableMessage {
  readonly place:
    Pick<DecidedLocation, 'place' | 'code' | 'at'> | { readonly place: Exclude<FoundLocation['place'], 'decided'> }
}

/**
 * Returns why a message cannot be erased now. Either it waits, or a carrier's receipt may still come, which would be
 * matched by the number of the message. The statements of stores apply the same rule.
 */
export function holdsUp({ place }: ErasableMessage, now: Instant): 'waits' | 'awaits-receipt' | undefined {
  if (place.place !== 'decided') return 'waits'
  return !isFinal(place.code) && place.at > daysBefore(now, receiptMatching.keptDays) ? 'awaits-receipt' : undefined
}

/** Stored data of the owner of a number, for export and erasure. */
export interface PersonalData {
  /** Returns the texts of messages. The map lacks messages whose text is not stored. */
  texts(ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, string>>
  /** Lists inbound messages in order of arrival, read in pages. */
  inbound(number: Msisdn): AsyncIterable<StoredInbound>
  /** Lists contacts by account and address. */
  contacts(number: Msisdn): Promise<readonly StoredContact[]>
  /** Lists suppressions by account (everybody first) and kind. */
  suppressions(number: Msisdn): Promise<readonly StoredSuppression[]>
  /** Lists rows of bulk sends that name the number, by send and row. */
  listed(number: Msisdn): Promise<readonly StoredListRow[]>
  /**
   * Runs one bounded step of an erasure. Replaces the number by `erasedNumber` in messages with a final outcome
   * (`holdsUp`) and their events, and in inbound messages and their events. Deletes the texts of inbound messages and
   * of replies that opted out, and the text of a send once all its numbers are erased. Inbound messages are no longer
   * returned. Contacts are deleted. In rows of bulk sends, except those being sent (`StoredListRow`), the number is
   * replaced too and the fields are deleted. States, costs, counts, opt-outs and blocks do not change. Steps may be
   * repeated and may run concurrently.
   */
  erase(
    number: Msisdn,
    step: ErasureStep,
  ): Promise<{ readonly erased: ErasedCounts; readonly next: ErasureStep | undefined }>
  begin(erasure: Pick<Erasure, 'digest' | 'by'>): Promise<ErasureId>
  end(id: ErasureId, erased: ErasedCounts): Promise<void>
  /** Lists erasures, latest first. */
  erasures(): Promise<readonly Erasure[]>
}
