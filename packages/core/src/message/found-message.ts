import type { AccountId } from '../account/account.ts'
import type { Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { MessageId } from './message-id.ts'
import type { ClaimedLocation, DecidedLocation, MessageLocation } from './message-trace.ts'
import type { Msisdn } from './msisdn.ts'
import type { SenderAddress } from './sender-address.ts'

/** Which messages to a number are looked for. Bounds of time are of `FoundMessage.due`. */
export interface MessageSearch {
  readonly number: Msisdn
  /** Left out: of every account. */
  readonly account?: AccountId | undefined
  readonly from?: Instant | undefined
  /** Before this. */
  readonly to?: Instant | undefined
  /** Only what comes after this one in the order of the list. */
  readonly after?: Pick<FoundMessage, 'due' | 'id'> | undefined
}

/** A message as far as a list shows it. Never its text (P-15). */
export interface FoundMessage {
  readonly id: MessageId
  readonly account: AccountId
  /** Undefined: accepted before messages had an address of ours. */
  readonly from: SenderAddress | undefined
  /** It confirms an opt-out, at no price (ruling 1.21). */
  readonly confirmation: boolean
  readonly accepted: Instant
  /** When it was or is to be sent: its scheduled time, else when it was accepted. Its age counts from here (ruling 1.16). */
  readonly due: Instant
  readonly scheduled: boolean
  /** What was charged for it. */
  readonly cost: Credits
  readonly place: FoundLocation
}

/** As `MessageLocation`, as far as a list shows it. */
export type FoundLocation =
  | Exclude<MessageLocation, ClaimedLocation | DecidedLocation | { readonly place: 'nowhere' | 'queue' }>
  | { readonly place: 'queue'; readonly attempt: number }
  | Pick<ClaimedLocation, 'place' | 'marked' | 'attempt'>
  | Pick<DecidedLocation, 'place' | 'code' | 'at'>
