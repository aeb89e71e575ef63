import type { Account, ApiKey } from '@gateway/core/accounts'
import { formatCredits, type Credits } from '@gateway/core/credits'
import { stateOf, type OutcomeCode, type SentCredits } from '@gateway/core/messages'
import { formatDate, formatTime, instant, type Instant } from '@gateway/core/time'
import { printable, type Json } from './output.ts'

export const creditsJson = (amount: Credits): number => amount / 10

/** Members of a JSON document for the credits of a message, named as in the portal. */
export const sentCreditsJson = ({ charged, returned, net }: SentCredits) => ({
  charged: creditsJson(charged),
  returned: creditsJson(returned),
  net: creditsJson(net),
})

/** Heads of the columns that `sentCreditsCells` fills. */
export const sentCreditsHead = ['CHARGED', 'RETURNED', 'NET'] as const

export const sentCreditsCells = ({ charged, returned, net }: SentCredits): readonly string[] =>
  [charged, returned, net].map(formatCredits)

export const timeJson = (at: Instant | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d{2}(?::?\d{2})?))?)?$/i

/**
 * Parses an ISO 8601 time: a day, optionally with a time to the minute, the second or a fraction of a second. A time
 * without a zone is at GMT+2, like all times that people type. Returns undefined for other texts and for dates that do
 * not exist.
 */
export const parseTime = (text: string): Instant | undefined => {
  const [, day, minute = '00:00', second = '00', fraction = '', zone = '+02:00'] = isoTime.exec(text) ?? []
  if (day === undefined) return undefined
  const written = `${day}T${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`
  const utc = Date.parse(`${written}Z`)
  // Date.parse turns 30 February into March.
  if (Number.isNaN(utc) || new Date(utc).toISOString() !== `${written}Z`) return undefined
  const [, sign, hours = '00', minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  if (Number(hours) > 14 || Number(minutes) > 59) return undefined
  const offsetMinutes = Number(hours) * 60 + Number(minutes)
  return instant(utc + (sign === '-' ? 1 : sign === '+' ? -1 : 0) * offsetMinutes * 60_000)
}

/** Formats a time for a person, at GMT+2 like all times on the interfaces. */
export const timeText = (at: Instant | undefined): string =>
  at === undefined ? '' : `${formatDate(at)} ${formatTime(at)}`

/** Formats a duration as `12 s`, `5 min`, `3 h` or `2 days`. */
export const durationText = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`
}

/** Formats a count with its noun: `1 message`, `2 messages`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export const accountJson = (account: Account, balance: Credits): Json => ({
  id: account.id,
  parent: account.parent ?? null,
  login: account.login,
  firstName: account.firstName,
  surname: account.surname,
  balance: creditsJson(balance),
  locked: account.locked,
  trialOwnNumber: account.trial?.ownNumber ?? null,
  transactional: account.transactional,
  networks: account.from,
  requestsPerSecond: account.requestsPerSecond ?? null,
  recipientsPerSecond: account.recipientsPerSecond ?? null,
  callingCode: account.callingCode ?? null,
})

/** Formats an account as lines of a name and a value. */
export const accountLines = (account: Account, balance: Credits): string => {
  const cells = accountCells(account, balance).map(printable)
  return accountHead.map((name, at) => `${name.toLowerCase().padEnd(8)} ${cells[at] ?? ''}`.trimEnd()).join('\n')
}

export const accountHead = ['ID', 'PARENT', 'LOGIN', 'NAME', 'CREDITS', 'STATE']

export const accountCells = (account: Account, balance: Credits): readonly string[] => [
  String(account.id),
  String(account.parent ?? ''),
  account.login,
  `${account.firstName} ${account.surname}`.trim(),
  formatCredits(balance),
  [
    account.locked ? 'locked' : 'open',
    ...(account.trial === undefined ? [] : [`trial of ${account.trial.ownNumber}`]),
    ...(account.transactional ? ['transactional'] : []),
    ...perSecond(account.requestsPerSecond, 'request'),
    ...perSecond(account.recipientsPerSecond, 'recipient'),
    ...(account.callingCode === undefined ? [] : [`numbers of +${account.callingCode}`]),
    ...(account.from.length > 0 ? [`password from ${account.from.join(', ')} only`] : []),
  ].join(', '),
]

const perSecond = (limit: number | undefined, noun: string): readonly string[] =>
  limit === undefined ? [] : [`${counted(limit, noun)} a second`]

export const keyState = (key: ApiKey, now: number): 'valid' | 'revoked' | 'expired' => {
  if (key.revoked !== undefined) return 'revoked'
  return key.expires !== undefined && key.expires <= now ? 'expired' : 'valid'
}

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
  201: 'not enough credits for the joined text',
  202: 'stopped: the account is locked',
  211: 'the joined text is too long',
  212: 'stopped: the recipient has opted out',
  213: 'unknown reason',
  214: 'stopped: the number is blacklisted',
} as const satisfies Record<OutcomeCode, string>

const STATUS = { delivered: 'DELIVERED', sent: 'SENT', failed: 'SENDINGFAILED' } as const

export const outcomeMeaning = (code: OutcomeCode): string => WORDS[code]

/** Returns the word of the interfaces for the state of an outcome. */
export const outcomeStatus = (code: OutcomeCode): string => STATUS[stateOf(code)]

export const outcomeText = (code: OutcomeCode): string => `${outcomeStatus(code)} ${code} (${WORDS[code]})`
