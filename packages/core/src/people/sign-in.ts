import type { Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import { mayComeFrom, type Account, type AccountId, type ComesFrom } from '../accounts/account.ts'
import type { PairToCheck } from '../accounts/authenticate.ts'
import { newPasswordRefusal, type NewPasswordRefusal } from './new-password.ts'
import { ownSecondFactor, type FactorPorts, type FactorToSetUp } from './second-factor.ts'
import { factorOwner, type FactorOwner } from './second-factors.ts'
import type { Login, TooManyFailures } from './secrets.ts'
import { sessionBounds, type Session, type SessionId, type SessionOwner } from './sessions.ts'
import {
  newSession,
  afterPassword,
  type Browser,
  type OpenedSession,
  type AskedForCode,
  type SignInArea,
} from './sign-in-steps.ts'
import type { User } from './users.ts'

type SignInPorts = FactorPorts & Pick<Ports, 'accounts' | 'sessions' | 'users'>

/** Who signs in for an account: one of its users, or whoever has its own login and password. */
export interface Holder {
  readonly account: Account
  readonly user?: User | undefined
}

type HolderLogin = Login & Pick<Holder, 'user'>

const ownerOf = ({ account, user }: Holder): FactorOwner =>
  user === undefined ? factorOwner('account', account.id) : factorOwner('user', user.id)

const sessionOwner = ({ account, user }: Holder): SessionOwner => ({ account: account.id, user: user?.id })

/** What they sign in with. */
const nameOf = ({ account, user }: Holder): string => user?.email ?? account.login

/**
 * The account with this login, else the user with this e-mail address. Both are looked up, so that the time tells
 * nothing.
 */
const holderNamed =
  ({ accounts, users }: SignInPorts) =>
  async (name: string): Promise<HolderLogin | undefined> => {
    const [login, found] = await Promise.all([accounts.readLogin(name), users.byEmail(name)])
    if (login !== undefined || found === undefined) return login
    const account = (await accounts.find(found.user.account))?.account
    return account && { account, ...found }
  }

/** Account holders by login, and users of accounts by e-mail address. */
export const holders = (ports: SignInPorts): SignInArea<HolderLogin> => ({
  ownerOf,
  labelOf: nameOf,
  isRequired: ({ account }) => ports.secondFactors.isRequired(account.id),
  byName: holderNamed(ports),
  async open({ password, ...holder }, browser, secondFactor) {
    if (password === undefined) return 'wrong-credentials'
    const { token, ...session } = newSession(ports, browser, secondFactor)
    const id = await ports.sessions.open(sessionOwner(holder), password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  },
})

/**
 * Whose pair it is. A name with an @ may be an e-mail address: what is remembered of it is kept apart from the pairs of
 * the interfaces, which no user opens.
 */
async function checkHolder(
  ports: SignInPorts,
  { user: name, password, network, address = '', comesFrom }: PairToCheck,
): Promise<HolderLogin | 'wrong-credentials' | 'overloaded' | TooManyFailures> {
  const mayBeEmail = name.includes('@')
  const stored = () => (mayBeEmail ? holderNamed(ports)(name) : ports.accounts.readLogin(name))
  const checked = await ports.secrets.checkPassword<HolderLogin>({
    ...{ login: mayBeEmail ? `user ${name}` : name, password, network, address, now: ports.clock.now() },
    ...{ remembered: mayBeEmail ? stored : () => ports.accounts.byLogin(name), stored },
    ...(mayBeEmail && { use: 'sign-in' }),
    mayUse: ({ account, user }) => mayComeFrom(account.from, comesFrom) && user?.locked !== true,
  })
  return checked === 'wrong' ? 'wrong-credentials' : checked
}

/**
 * Stores a stronger hash of the password that was right, where the user has one of an older version. The pair of an
 * account keeps its hash, because it is checked with requests.
 */
async function withStrongHash(
  { secrets, users }: SignInPorts,
  holder: HolderLogin,
  typed: string,
): Promise<HolderLogin> {
  const { account, user, password: before } = holder
  if (user === undefined || before === undefined || !secrets.isWeakForSignIn(before)) return holder
  const after = await secrets.hashPassword(typed, 'sign-in')
  return (await users.replaceHash(account.id, user.id, before, after)) ? { ...holder, password: after } : holder
}

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
    const checked = await checkHolder(ports, pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    // Read afresh: what was remembered of the account may be some seconds old.
    if ((await ports.accounts.find(checked.account.id))?.account.locked !== false) return 'account-locked'
    const holder = await withStrongHash(ports, checked, pair.password)
    return afterPassword(ports, holders(ports), holder, pair.user, browser)
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
  /** Undefined: somebody with the account's own password, who may do what an owner may. */
  readonly user: User | undefined
  readonly balance: Credits
}

/**
 * Undefined: the session is over, its account is locked, or it may not be used from there. With `use` the session stays
 * open for longer; what asks by itself, without a person, does not use it.
 */
export const findSession =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'sessions' | 'users'>) =>
  async (token: string, comesFrom?: ComesFrom, use = true): Promise<SignedIn | undefined> => {
    const session = await ports.sessions.find(ports.secrets.hashKey(token), sessionBounds, use)
    if (session === undefined) return undefined
    const found = await ports.accounts.find(session.account)
    if (found === undefined || found.account.locked) return undefined
    if (!mayComeFrom(found.account.from, comesFrom)) return undefined
    if (session.user === undefined) return { session, user: undefined, ...found }
    const user = await ports.users.find(session.account, session.user)
    return user && { session, user, ...found }
  }

/**
 * Somebody changes the own password. It ends every own session; the new one that it returns is for the browser that
 * asked.
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
    const checked = await checkHolder(ports, pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    const { account, user } = checked
    const password = await ports.secrets.hashPassword(wanted, user === undefined ? 'requests' : 'sign-in')
    if (user === undefined) await ports.accounts.setPassword(account.id, password)
    else await ports.users.setPassword(account.id, user.id, password)
    await ports.sessions.endAll(sessionOwner(checked))
    const secondFactor = (await ports.secondFactors.find(ownerOf(checked))) !== undefined
    return holders(ports).open({ ...checked, password }, browser, secondFactor)
  }

/** The own sessions and the own second factor of whoever is signed in. */
export const ownSignIn = (ports: SignInPorts) => {
  const factor = ownSecondFactor(ports)
  return {
    listSessions: (holder: Holder) => ports.sessions.list(sessionOwner(holder), sessionBounds),
    endSession: (holder: Holder, id: SessionId) => ports.sessions.end(sessionOwner(holder), id),
    endOtherSessions: (holder: Holder, but: SessionId) => ports.sessions.endAll(sessionOwner(holder), but),
    findSecondFactor: (holder: Holder) => ports.secondFactors.find(ownerOf(holder)),
    isSecondFactorRequired: ({ account }: Holder) => ports.secondFactors.isRequired(account.id),
    /** Asks for the password again: whoever finds a session open must not lock its owner out. */
    beginSecondFactor: async (
      holder: Holder,
      pair: Omit<PairToCheck, 'user'>,
    ): Promise<FactorToSetUp | 'already' | 'wrong-credentials' | 'overloaded' | TooManyFailures> => {
      const of = ownerOf(holder)
      const checked = await checkHolder(ports, { ...pair, user: nameOf(holder) })
      if (typeof checked === 'string' || 'retryAfterSeconds' in checked) return checked
      return ownerOf(checked) === of ? factor.begin(of, nameOf(holder)) : 'wrong-credentials'
    },
    setSecondFactor: (holder: Holder, challenge: string, code: string) => factor.set(ownerOf(holder), challenge, code),
    renewRecoveryCodes: (holder: Holder, code: string) => factor.renewCodes(ownerOf(holder), code),
    removeSecondFactor: async (holder: Holder, code: string) =>
      factor.remove(ownerOf(holder), code, await ports.secondFactors.isRequired(holder.account.id)),
  }
}
