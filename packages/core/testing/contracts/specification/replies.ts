import { may, type AccountId } from '@gateway/core/accounts'
import { deduplicationSeconds, type InboxMessage, type InboxPart } from '@gateway/core/inbox'
import { OUTCOME, type MessageId, type Outcome, type SenderAddress } from '@gateway/core/messages'
import type { Suppression } from '@gateway/core/suppressions'
import { secondsAfter, type Instant } from '@gateway/core/time'

/** Sent message to the number from which an inbound message comes. */
export interface Contact {
  readonly account: AccountId
  readonly id: MessageId
  /** Address to which the reply was sent; undefined if it is not known. */
  readonly from: SenderAddress | undefined
  /** Time at which a carrier accepted the message or may have accepted it. */
  readonly at: Instant
}

/** Known sender address, and the account that owns it as a short or long code. */
export interface KnownAddress {
  readonly address: SenderAddress
  readonly owner: AccountId | undefined
}

export interface ReplyOwner {
  /** Account of the reply; undefined if it belongs to none. */
  readonly account: AccountId | undefined
  readonly answers: MessageId | undefined
  readonly shortCode: SenderAddress | undefined
  /** Address from which a confirmation is sent. */
  readonly address: SenderAddress | undefined
}

/**
 * Returns true if a message with an outcome counts as a contact: a carrier accepted it or may have, and it is not the
 * confirmation of an opt-out (rulings 1.18, 1.21).
 */
export const isContact = (outcome: Pick<Outcome, 'code' | 'hasReference'>, confirmation: boolean): boolean =>
  !confirmation && (outcome.hasReference || outcome.code === OUTCOME.unknown)

/** Orders contacts, latest first. Negative if `a` is later. */
export const laterContact = (a: Pick<Contact, 'at' | 'id'>, b: Pick<Contact, 'at' | 'id'>): number =>
  b.at - a.at || b.id - a.id

/**
 * Returns the owner of an inbound message and the message that it answers (ruling 1.18). `to` is the address to which
 * the inbound message was sent; it is undefined if no messages are sent from that address. `sent` are the contacts of
 * the inbound message's number. `inFlight` are messages to the number that may have been submitted and are not
 * recorded; they count only if no contact matches.
 */
export function replyOwner(
  to: KnownAddress | undefined,
  sent: readonly Contact[],
  inFlight: readonly Contact[],
): ReplyOwner {
  const owner = to?.owner
  const fits = ({ account, from }: Contact) =>
    owner === undefined ? to === undefined || from === undefined || from === to.address : account === owner
  const latest = (contacts: readonly Contact[]) => contacts.filter(fits).sort(laterContact)[0]
  const answered = latest(sent) ?? latest(inFlight)
  return {
    account: owner ?? answered?.account,
    answers: answered?.id,
    shortCode: owner === undefined ? undefined : to?.address,
    address: to?.address ?? answered?.from,
  }
}

export interface OptOutFacts {
  /** True if the number was not opted out before. */
  readonly isNew: boolean
  readonly accountLocked: boolean
  /** Other suppressions of the number. */
  readonly suppressions: ReadonlySet<Suppression>
  /** Address, as in `ReplyOwner.address`. */
  readonly address: SenderAddress | undefined
}

/**
 * Returns the address from which the confirmation of an opt-out is sent, or undefined if none is sent (ruling 1.21).
 */
export const confirmationAddress = ({
  isNew,
  accountLocked,
  suppressions,
  address,
}: OptOutFacts): SenderAddress | undefined =>
  isNew && may({ locked: accountLocked }, 'confirmOptOut') && !suppressions.has('blacklist') ? address : undefined

/** Returns true if a message repeats one with the same key that was received at `seen`. */
export const isRepetition = (seen: Instant, now: Instant): boolean => seen > secondsAfter(now, -deduplicationSeconds)

/** Returns true if a message belongs to this part of the inbox. */
export const isIn = (part: InboxPart, { shortCode }: Pick<InboxMessage, 'shortCode'>): boolean =>
  part === 'all' || (shortCode !== undefined) === (part === 'short-code')
