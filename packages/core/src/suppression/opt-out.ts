import type { MessageId } from '../message/message-id.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import type { InboundMessageId } from '../inbox/inbox.ts'

/** A number that an account may not write to, at the request of its owner or of the account holder. */
export interface OptOut {
  readonly number: Msisdn
  readonly since: Instant
  /** What asked for it; undefined: the account holder added it. */
  readonly reply: OptOutReply | undefined
}

/** What the lists show as the text of an entry that the account holder added (ruling 1.23). */
export const manualOptOutText = '* MANUALLY ADDED BY USER *'

export interface OptOutReply {
  /** The inbound message; undefined: it did not arrive here, the entry was imported with its text. */
  readonly id: InboundMessageId | undefined
  readonly text: string
  readonly answers: MessageId | undefined
}

/** As a list from elsewhere has it. */
export interface ImportedOptOut {
  readonly number: Msisdn
  /** Undefined: from now on. */
  readonly since: Instant | undefined
  /** With what it was asked for; undefined, blank or the text of manual entries: it is a manual entry. */
  readonly text: string | undefined
}
