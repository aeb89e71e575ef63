import { may } from '../account/may.ts'
import type { SenderAddress } from '../message/sender-address.ts'
import type { Suppression } from '../suppression/suppression.ts'

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
