import { credits, type Credits } from '../credits/credits.ts'
import type { Msisdn } from '../message/msisdn.ts'
import type { Ports } from '../ports.ts'
import { isLogin, type AccountId } from './account.ts'
import type { OpenRefusal } from './accounts.ts'

export interface AccountToOpen {
  readonly login: string
  /** Undefined: the account has no password, only keys. */
  readonly password?: string | undefined
  readonly parent?: AccountId | undefined
  /** Undefined: none. Not negative. */
  readonly credits?: Credits | undefined
  readonly trial?: { readonly ownNumber: Msisdn } | undefined
  readonly transactional?: boolean | undefined
  readonly firstName?: string | undefined
  readonly surname?: string | undefined
}

export const passwordLengthMax = 255

/** Opens a main or sub account. The login names it on the legacy interfaces and is unique in any letter case. */
export const openAccount =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'clock'>) =>
  async (
    wanted: AccountToOpen,
  ): Promise<AccountId | OpenRefusal | 'invalid-login' | 'invalid-password' | 'negative-credits'> => {
    const granted = wanted.credits ?? credits(0)
    if (!isLogin(wanted.login)) return 'invalid-login'
    if (wanted.password !== undefined && !isPassword(wanted.password)) return 'invalid-password'
    if (granted < 0) return 'negative-credits'
    return ports.accounts.open(
      {
        account: {
          parent: wanted.parent,
          login: wanted.login,
          firstName: wanted.firstName ?? '',
          surname: wanted.surname ?? '',
          trial: wanted.trial,
          transactional: wanted.transactional ?? false,
        },
        password: wanted.password === undefined ? undefined : await ports.secrets.hashPassword(wanted.password),
        credits: granted,
      },
      ports.clock.now(),
    )
  }

/** A password is 1 to 255 characters and more than white space, since a blank one counts as not given (ruling 3.1). */
export const isPassword = (text: string): boolean => text.trim() !== '' && text.length <= passwordLengthMax
