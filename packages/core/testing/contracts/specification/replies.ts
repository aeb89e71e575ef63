import { may, type AccountId } from '@gateway/core/accounts'
import { deduplicationSeconds, type InboxMessage, type InboxPart } from '@gateway/core/inbox'
import { isTaken, type MessageId, type Outcome, type SenderAddress } from '@gateway/core/messages'
import type { Suppression } from '@gateway/core/suppressions'
import { secondsAfter, type Instant } from '@gateway/core/time'

/** A message to the number that writes. */
export interface Contact {
  readonly account: AccountId
  readonly id: MessageId
  /** Undefined: not known. */
  readonly from: SenderAddress | undefined
  /** When a carrier took it, or may have taken it. */
  readonly at: Instant
}

/** An address that messages leave from, and the account whose short or long code it is. */
export interface KnownAddress {
  readonly address: SenderAddress
  readonly owner: AccountId | undefined
}

export interface ReplyOwner {
  /** Undefined: nobody. */
  readonly account: AccountId | undefined
  readonly answers: MessageId | undefined
  readonly shortCode: SenderAddress | undefined
  /** Where a confirmation leaves from. */
  readonly address: SenderAddress | undefined
}

/**
 * Whether a decided message counts as a contact: a carrier took it or may have, and it confirms no opt-out (rulings
 * 1.18, 1.21).
 */
export const isContact = (outcome: Pick<Outcome, 'code' | 'hasReference'>, confirmation: boolean): boolean =>
  !confirmation && isTaken(outcome)

/** Below 0 if `a` is the later contact. */
export const laterContact = (a: Pick<Contact, 'at' | 'id'>, b: Pick<Contact, 'at' | 'id'>): number =>
  b.at - a.at || b.id - a.id

/**
 * Whom an inbound message belongs to, and what it answers (ruling 1.18). `to`: the address that it was sent to, if
 * messages leave from it. `sent`: contacts of its number. `inFlight`: what may have left to it and is not recorded,
 * which counts if nothing else fits.
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
  /** Whether the number was not opted out before. */
  readonly isNew: boolean
  readonly accountLocked: boolean
  /** What holds for the number besides. */
  readonly suppressions: ReadonlySet<Suppression>
  /** As `ReplyOwner.address`. */
  readonly address: SenderAddress | undefined
}

/** Where the confirmation of an opt-out leaves from; undefined: none is sent (ruling 1.21). */
export const confirmationAddress = ({
  isNew,
  accountLocked,
  suppressions,
  address,
}: OptOutFacts): SenderAddress | undefined =>
  isNew && may({ locked: accountLocked }, 'confirmOptOut') && !suppressions.has('blacklist') ? address : undefined

/** Whether a message is a repetition of one with the same key that was seen at `seen`. */
export const isRepetition = (seen: Instant, now: Instant): boolean => seen > secondsAfter(now, -deduplicationSeconds)

/** Whether a message is in this part. */
export const isIn = (part: InboxPart, { shortCode }: Pick<InboxMessage, 'shortCode'>): boolean =>
  part === 'all' || (shortCode !== undefined) === (part === 'short-code')
