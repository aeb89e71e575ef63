import type { Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import { mayComeFrom, type Account, type AccountId, type ComesFrom } from './account.ts'
import { checkPair, type PairToCheck } from './authenticate.ts'
import { newPasswordRefusal, type NewPasswordRefusal } from './new-password.ts'
import { newSession, type Browser, type OpenedSession } from './new-session.ts'
import type { FactorPorts } from './second-factor.ts'
import { factorOwner } from './second-factors.ts'
import type { Login, TooManyFailures } from './secrets.ts'
import { afterPassword, type AskedForCode, type SignInArea } from './sign-in-steps.ts'
import { sessionBounds, type Session } from './sessions.ts'

type SignInPorts = FactorPorts & Pick<Ports, 'accounts' | 'sessions'>

/** Account holders, by login. */
export const holders = (ports: SignInPorts): SignInArea<Login> => ({
  ownerOf: ({ account }) => factorOwner('account', account.id),
  labelOf: ({ account }) => account.login,
  isRequired: ({ account }) => ports.secondFactors.isRequired(account.id),
  byName: (login) => ports.accounts.readLogin(login),
  async open({ account, password }, browser, secondFactor) {
    if (password === undefined) return 'wrong-credentials'
    const { token, ...session } = newSession(ports, browser, secondFactor)
    const id = await ports.sessions.open(account.id, password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  },
})

/**
 * Opens a session with login and password, or asks for a code. Failures count as those of every interface do (ruling
 * 1.26). That an account is locked is told to whoever has its password only.
 */
export const signIn =
  (ports: SignInPorts) =>
  async (
    pair: PairToCheck,
    browser: Browser,
  ): Promise<
    OpenedSession | AskedForCode | 'wrong-credentials' | 'account-locked' | 'overloaded' | TooManyFailures
  > => {
    const checked = await checkPair(ports)(pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    // Read afresh: what was remembered of the account may be some seconds old.
    if ((await ports.accounts.find(checked.account.id))?.account.locked !== false) return 'account-locked'
    return afterPassword(ports, holders(ports), checked, pair.user, browser)
  }

/** Opens a session with the token of a link, which is worth nothing afterwards. */
export const signInByLink =
  (ports: Pick<Ports, 'secrets' | 'sessions'>) =>
  async (link: string, browser: Browser): Promise<OpenedSession | 'wrong-credentials'> => {
    const { token, ...session } = newSession(ports, browser, false)
    const id = await ports.sessions.openByLink(ports.secrets.hashKey(link), session)
    return id === undefined ? 'wrong-credentials' : { id, token }
  }

/** So long a link may be used. */
export const linkSeconds = 60 * 60

/** The token of a link that signs in once, within an hour. No link takes the place of a second factor. */
export const offerSignInLink =
  (ports: Pick<Ports, 'secrets' | 'sessions' | 'secondFactors'>) =>
  async (to: AccountId): Promise<{ readonly token: string } | 'no-such-account' | 'second-factor'> => {
    const factor = await ports.secondFactors.find(factorOwner('account', to))
    if (factor !== undefined || (await ports.secondFactors.isRequired(to))) return 'second-factor'
    const token = ports.secrets.newToken()
    const offered = await ports.sessions.offerLink(to, ports.secrets.hashKey(token), linkSeconds)
    return offered ? { token } : 'no-such-account'
  }

/** Who is signed in with a token, read afresh. */
export interface SignedIn {
  readonly session: Session
  readonly account: Account
  readonly balance: Credits
}

/**
 * Undefined: the session is over, its account is locked, or it may not be used from there. With `use` the session stays
 * open for longer; what asks by itself, without a person, does not use it.
 */
export const findSession =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'sessions'>) =>
  async (token: string, comesFrom?: ComesFrom, use = true): Promise<SignedIn | undefined> => {
    const session = await ports.sessions.find(ports.secrets.hashKey(token), sessionBounds, use)
    if (session === undefined) return undefined
    const found = await ports.accounts.find(session.account)
    if (found === undefined || found.account.locked) return undefined
    return mayComeFrom(found.account.from, comesFrom) ? { session, ...found } : undefined
  }

/**
 * The account holder changes the password. It ends every session of the account; the new one that it returns is for
 * the browser that asked.
 */
export const changePassword =
  (ports: SignInPorts) =>
  async (
    pair: PairToCheck,
    wanted: string,
    browser: Browser,
  ): Promise<OpenedSession | 'wrong-credentials' | NewPasswordRefusal | 'overloaded' | TooManyFailures> => {
    const refusal = await newPasswordRefusal(ports, wanted, pair.user)
    if (refusal !== undefined) return refusal
    const checked = await checkPair(ports)(pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    const { id: account } = checked.account
    const password = await ports.secrets.hashPassword(wanted)
    await ports.accounts.setPassword(account, password)
    await ports.sessions.endAll(account)
    const secondFactor = (await ports.secondFactors.find(factorOwner('account', account))) !== undefined
    return holders(ports).open({ ...checked, password }, browser, secondFactor)
  }
