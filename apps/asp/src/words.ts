import { stateOf, type Deletion, type OutcomeCode, type Refusal, type TransferRefusal } from '@gateway/core'

/** The result of a number that got no message (spec 4.2, rule 2). */
export const SEND_RESULT = {
  'account-locked': 'ACCOUNTLOCKED',
  'no-message': 'NO MESSAGE', // a blank text is an error of the whole call before anybody is screened (ruling 1.10)
  'too-long': 'TOOLONG',
  'no-number': 'BADDEST', // empty pieces of `numbers` are dropped (ruling 3.4)
  'invalid-number': 'BADDEST',
  blacklisted: 'BADDEST',
  'trial-to-self': 'TRIALNOT2SELF',
  'opted-out': 'OPTEDOUT',
  'do-not-contact': 'WASPADNC',
  'insufficient-credits': 'INSUFFICIENT CREDITS',
} as const satisfies Record<Refusal, string>

const STATUS = { delivered: 'DELIVERED', sent: 'SENT', failed: 'SENDINGFAILED' } as const

/** The status text of an outcome (spec 3; ruling 1.16). */
export const statusText = (code: OutcomeCode): string => STATUS[stateOf(code)]

/** The status text of a message that is waiting or not known (ruling 1.16). */
export const NOTFOUND = 'NOTFOUND'

/** The result of an id that was to be deleted (spec 4.2; ruling 1.15). */
export const DELETION = {
  deleted: 'DELETED',
  sent: 'SENT',
  'not-found': NOTFOUND,
} as const satisfies Record<Deletion['outcome'], string>

/** The result of a transfer that was not made (spec 4.2, transfer results). */
export const TRANSFER_RESULT = {
  'invalid-from-account': 'invalidFromAccount',
  'invalid-to-account': 'invalidToAccount',
  'from-account-locked': 'lockedFromAccount',
  'to-account-locked': 'lockedToAccount',
  'same-account': 'sameAccount',
  'invalid-quantity': 'invalidQuantity',
  'insufficient-credits': 'insufficientCredits',
  failed: 'Fail',
} as const satisfies Record<TransferRefusal, string>
