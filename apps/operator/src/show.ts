import {
  formatCredits,
  formatDate,
  formatTime,
  type Account,
  type ApiKey,
  type Credits,
  type Instant,
} from '@gateway/core'
import type { Json } from './output.ts'

export const creditsJson = (amount: Credits): number => amount / 10

export const timeJson = (at: Instant | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

/** For a person: at +02:00 like every time on the interfaces. */
export const timeText = (at: Instant | undefined): string =>
  at === undefined ? '' : `${formatDate(at)} ${formatTime(at)}`

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
})

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
  ].join(', '),
]

export const keyState = (key: ApiKey, now: number): 'valid' | 'revoked' | 'expired' => {
  if (key.revoked !== undefined) return 'revoked'
  return key.expires !== undefined && key.expires <= now ? 'expired' : 'valid'
}
