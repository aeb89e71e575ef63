import { stateOf, type OutcomeCode } from '@gateway/core'

const WORDS = {
  0: 'delivered to the recipient',
  100: 'no delivery report yet',
  101: 'expired',
  102: 'cancelled before delivery',
  103: 'could not be delivered',
  105: 'accepted for delivery, the carrier is still trying',
  106: 'outcome unknown',
  107: 'rejected by the carrier',
  111: 'refused on submission',
  202: 'stopped: the account is locked',
  212: 'stopped: the recipient has opted out',
  213: 'unknown reason',
  214: 'stopped: the number is blacklisted',
} as const satisfies Record<OutcomeCode, string>

const STATUS = { delivered: 'DELIVERED', sent: 'SENT', failed: 'SENDINGFAILED' } as const

export const outcomeMeaning = (code: OutcomeCode): string => WORDS[code]

/** As the interfaces call it. */
export const outcomeStatus = (code: OutcomeCode): string => STATUS[stateOf(code)]

export const outcomeText = (code: OutcomeCode): string => `${outcomeStatus(code)} ${code} (${WORDS[code]})`
