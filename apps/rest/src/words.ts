import { stateOf, type Deletion, type MessageStatus, type Refusal, type TransferRefusal } from '@gateway/core'

/** `acceptError` of a recipient: the words of the query-string interface (ruling 2.5; spec 4.2, rule 2). */
export const ACCEPT_ERROR = {
  'account-locked': 'ACCOUNTLOCKED',
  'no-message': 'NO MESSAGE', // a blank text is 422 before anybody is screened (ruling 1.10)
  'too-long': 'TOOLONG',
  'no-number': 'BADDEST',
  'invalid-number': 'BADDEST',
  blacklisted: 'BADDEST',
  'trial-to-self': 'TRIALNOT2SELF',
  'opted-out': 'OPTEDOUT',
  'do-not-contact': 'WASPADNC',
  'insufficient-credits': 'INSUFFICIENT CREDITS',
} as const satisfies Record<Refusal, string>

const STATUS = { delivered: 'DELIVERED', sent: 'SENT', failed: 'SENDINGFAILED' } as const

/** The word and the code of a status (spec 3; ruling 1.16). */
export function statusWords(status: MessageStatus): { readonly word: string; readonly code: number } {
  if (status === 'waiting') return { word: 'NOTFOUND', code: -1 }
  if (status === 'not-found') return { word: 'NOTFOUND', code: -2 }
  return { word: STATUS[stateOf(status.code)], code: status.code }
}

/** `deleteError` of an id (ruling 2.8). */
export const DELETE_ERROR = {
  deleted: '',
  sent: 'SENT',
  'not-found': 'NOTFOUND',
} as const satisfies Record<Deletion['outcome'], string>

/** `transferError`: the words of the query-string interface (ruling 2.13; spec 4.2). A failure of ours has none here, it is 503. */
export const TRANSFER_ERROR = {
  'invalid-from-account': 'invalidFromAccount',
  'invalid-to-account': 'invalidToAccount',
  'from-account-locked': 'lockedFromAccount',
  'to-account-locked': 'lockedToAccount',
  'same-account': 'sameAccount',
  'invalid-quantity': 'invalidQuantity',
  'insufficient-credits': 'insufficientCredits',
} as const satisfies Record<Exclude<TransferRefusal, 'failed'>, string>
