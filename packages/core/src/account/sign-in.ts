import type { Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import { mayComeFrom, type Account, type AccountId, type ComesFrom } from './account.ts'
import { checkPair, type PairToCheck } from './authenticate.ts'
import { isPassword } from './change-account.ts'
import type { TooManyFailures } from './secrets.ts'
import { sessionBounds, type NewSession, type Session, type SessionId } from './sessions.ts'

/** What a browser keeps of its session; stored nowhere. */
export interface OpenedSession {
  readonly id: SessionId
  readonly token: string
}

export type Browser = Pick<NewSession, 'agent' | 'address'>

const agentCharactersMax = 200

/** A new token for each session: what a browser brought along before it signed in is worth nothing. */
export function newSession(ports: Pick<Ports, 'secrets'>, { agent, address }: Browser): NewSession & { token: string } {
  const token = ports.secrets.newToken()
  return { token, hash: ports.secrets.hashKey(token), agent: agent.slice(0, agentCharactersMax), address }
}

/**
 * Opens a session with login and password. Failures count as those of every interface do (ruling 1.26). That an account
 * is locked is told to whoever has its password only.
 */
export const signIn =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'sessions' | 'clock'>) =>
  async (
    pair: PairToCheck,
    browser: Browser,
  ): Promise<OpenedSession | 'wrong-credentials' | 'account-locked' | 'overloaded' | TooManyFailures> => {
    const checked = await checkPair(ports)(pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    const { account, password } = checked
    if (password === undefined) return 'wrong-credentials'
    // Read afresh: what was remembered of the account may be some seconds old.
    if ((await ports.accounts.find(account.id))?.account.locked !== false) return 'account-locked'
    const { token, ...session } = newSession(ports, browser)
    const id = await ports.sessions.open(account.id, password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  }

/** Opens a session with the token of a link, which is worth nothing afterwards. */
export const signInByLink =
  (ports: Pick<Ports, 'secrets' | 'sessions'>) =>
  async (link: string, browser: Browser): Promise<OpenedSession | 'wrong-credentials'> => {
    const { token, ...session } = newSession(ports, browser)
    const id = await ports.sessions.openByLink(ports.secrets.hashKey(link), session)
    return id === undefined ? 'wrong-credentials' : { id, token }
  }

/** So long a link may be used. */
export const linkSeconds = 60 * 60

/** The token of a link that signs in once, within an hour. */
export const offerSignInLink =
  (ports: Pick<Ports, 'secrets' | 'sessions'>) =>
  async (to: AccountId): Promise<{ readonly token: string } | 'no-such-account'> => {
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

/** A new password that a person chooses is at least so long. */
export const chosenPasswordMin = 10

/**
 * The account holder changes the password. It ends every session of the account; the new one that it returns is for
 * the browser that asked.
 */
export const changePassword =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'sessions' | 'clock'>) =>
  async (
    pair: PairToCheck,
    wanted: string,
    browser: Browser,
  ): Promise<
    OpenedSession | 'wrong-credentials' | 'too-short' | 'invalid-password' | 'overloaded' | TooManyFailures
  > => {
    if (!isPassword(wanted)) return 'invalid-password'
    if (wanted.length < chosenPasswordMin) return 'too-short'
    const checked = await checkPair(ports)(pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    const { id: account } = checked.account
    const password = await ports.secrets.hashPassword(wanted)
    await ports.accounts.setPassword(account, password)
    await ports.sessions.endAll(account)
    const { token, ...session } = newSession(ports, browser)
    const id = await ports.sessions.open(account, password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  }
