import { keyCharactersMax, type Refusal } from '@gateway/core'

/** The `ID` of a recipient that is refused (spec 7.3). */
export const REFUSAL = {
  'account-locked': 'ACCOUNTLOCKED',
  'no-message': 'FAIL:NO MESSAGE',
  'too-long': 'FAIL:TOOLONG',
  'no-number': 'FAIL:NO NUMBER',
  'invalid-number': 'FAIL:BADDEST',
  blacklisted: 'FAIL:BADDEST',
  'trial-to-self': 'FAIL:TRIALNOT2SELF',
  'opted-out': 'FAIL:OPTEDOUT',
  'do-not-contact': 'FAIL:WASPADNC',
  'insufficient-credits': 'NOCREDITS',
} as const satisfies Record<Refusal, string>

/** Errors in the content of a well-formed document. */
export type Flaw = 'not-valid' | 'too-many-numbers' | 'too-many-message-ids' | 'invalid-date' | 'unusable-client-ref'

/** Every reason for an `Error` element. */
export type Trouble =
  | Flaw
  | 'wrong-credentials'
  | 'too-many-failures'
  | 'too-many-requests'
  | 'too-large'
  | 'wrong-method'
  | 'another-request'
  | 'unavailable'

/** The text of the `Error` element (spec 7.3; rulings 1.24, 1.25, 1.26, 4.6) and the HTTP status, 200 for what the specification names (ruling 4.7). */
export const ERROR = {
  'not-valid': { status: 200, text: 'Not Valid XML Document' },
  'wrong-credentials': { status: 200, text: 'Authentication failed' },
  'too-many-numbers': { status: 200, text: 'Too Many Numbers' },
  'too-many-message-ids': { status: 200, text: 'Too Many Message IDs' },
  'invalid-date': { status: 200, text: 'Invalid Date' },
  'too-many-failures': { status: 429, text: 'Too many failed log-ins' },
  'too-many-requests': { status: 429, text: 'Too many requests' },
  'too-large': { status: 413, text: 'Body too large' },
  'wrong-method': { status: 405, text: 'Method not allowed' },
  'unusable-client-ref': { status: 200, text: `ClientRef must be 1 to ${keyCharactersMax} printable characters` },
  'another-request': { status: 200, text: 'clientref was used for another request' },
  unavailable: { status: 503, text: 'Service unavailable' },
} as const satisfies Record<Trouble, { readonly status: number; readonly text: string }>

/** A status that was not looked up (spec 4.3, rule 5). */
export const SKIPPED = { word: 'SKIPPED', code: 108 } as const
