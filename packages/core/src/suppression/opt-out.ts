import type { MessageId } from '../message/message-id.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import type { ArrivalId } from '../inbox/inbox.ts'

/** A number that an account may not write to, by the wish of its owner or of the account holder. */
export interface OptOut {
  readonly number: Msisdn
  readonly since: Instant
  /** The arrival that asked for it; undefined: the account holder added it. */
  readonly reply: { readonly id: ArrivalId; readonly text: string; readonly answers: MessageId | undefined } | undefined
}

/** What the lists show as the text of an entry that the account holder added (ruling 1.23). */
export const manualOptOutText = '* MANUALLY ADDED BY USER *'
