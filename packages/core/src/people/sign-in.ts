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
  type CodeRequest,
  type SignInArea,
} from './sign-in-steps.ts'
import type { User } from './users.ts'

type SignInPorts = FactorPorts & Pick<Ports, 'accounts' | 'people'>

/**
 * Person who signs in for an account. `user` is undefined if the person signs in with the login and password of the
 * account itself instead of those of a user.
 */
export interface Holder {
  readonly account: Account
  readonly user?: User | undefined
}

type HolderLogin = Login & Pick<Holder, 'user'>

const ownerOf = ({ account, user }: Holder): FactorOwner =>
  user === undefined ? factorOwner('account', account.id) : factorOwner('user', user.id)

const sessionOwner = ({ account, user }: Holder): SessionOwner => ({ account: account.id, user: user?.id })

/** Returns the name with which the person signs in. */
const nameOf = ({ account, user }: Holder): string => user?.email ?? account.login

/**
 * Finds the account with this login or, if there is none, the user with this e-mail address. Always looks up both, so
 * that the duration does not show which of them exists.
 */
const holderNamed =
  ({ accounts, people }: SignInPorts) =>
  async (name: string): Promise<HolderLogin | undefined> => {
    const [login, found] = await Promise.all([accounts.readLogin(name), people.users.byEmail(name)])
    if (login !== undefined || found === undefined) return login
    const account = (await accounts.find(found.user.account))?.account
    return account && { account, ...found }
  }

/** Returns the sign-in area of account holders, by login, and users of accounts, by e-mail address. */
export const holders = (ports: SignInPorts): SignInArea<HolderLogin> => ({
  ownerOf,
  labelOf: nameOf,
  isRequired: ({ account }) => ports.people.secondFactors.isRequired(account.id),
  byName: holderNamed(ports),
  async open({ password, ...holder }, browser, secondFactor) {
    if (password === undefined) return 'wrong-credentials'
    const { token, ...session } = newSession(ports, browser, secondFactor)
    const id = await ports.people.sessions.open(sessionOwner(holder), password, session, sessionBounds)
    return id === undefined ? 'wrong-credentials' : { id, token }
  },
})

/**
 * Checks a name and password. A name with an @ may be an e-mail address. The results for such names are cached
 * separately from the results of the other interfaces, because users cannot log in there.
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
 * After a correct password of a user, replaces its stored hash if that is weaker than hashes that are made now. The
 * hash of an account's own password is not replaced, because it is checked with each request and must stay cheap.
 */
async function withStrongHash(
  { secrets, people }: SignInPorts,
  holder: HolderLogin,
  typed: string,
): Promise<HolderLogin> {
  const { account, user, password: before } = holder
  if (user === undefined || before === undefined || !secrets.isWeakForSignIn(before)) return holder
  const after = await secrets.hashPassword(typed, 'sign-in')
  return (await people.users.replaceHash(account.id, user.id, before, after)) ? { ...holder, password: after } : holder
}

/**
 * Checks login and password, and opens a session or asks for a code. Failures count like those of every interface
 * (ruling 1.26). Only a person with the right password learns that the account is locked.
 */
export const signIn =
  (ports: SignInPorts) =>
  async (
    pair: PairToCheck,
    browser: Browser,
  ): Promise<OpenedSession | CodeRequest | 'wrong-credentials' | 'account-locked' | 'overloaded' | TooManyFailures> => {
    const checked = await checkHolder(ports, pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    // Read from the store, because the cached account may be some seconds old.
    if ((await ports.accounts.find(checked.account.id))?.account.locked !== false) return 'account-locked'
    const holder = await withStrongHash(ports, checked, pair.password)
    return afterPassword(ports, holders(ports), holder, pair.user, browser)
  }

/** Opens a session with the token of a link, which is used up. */
export const signInByLink =
  (ports: Pick<Ports, 'secrets' | 'people'>) =>
  async (link: string, browser: Browser): Promise<OpenedSession | 'wrong-credentials'> => {
    const { token, ...session } = newSession(ports, browser, false)
    const id = await ports.people.sessions.openByLink(ports.secrets.hashKey(link), session)
    return id === undefined ? 'wrong-credentials' : { id, token }
  }

/** Seconds for which a link may be used. */
export const linkSeconds = 60 * 60

/** Creates the token of a link that signs in once, within an hour. A link never replaces a second factor. */
export const offerSignInLink =
  (ports: Pick<Ports, 'secrets' | 'people'>) =>
  async (to: AccountId): Promise<{ readonly token: string } | 'no-such-account' | 'second-factor'> => {
    const factor = await ports.people.secondFactors.find(factorOwner('account', to))
    if (factor !== undefined || (await ports.people.secondFactors.isRequired(to))) return 'second-factor'
    const token = ports.secrets.newToken()
    const offered = await ports.people.sessions.offerLink(to, ports.secrets.hashKey(token), linkSeconds)
    return offered ? { token } : 'no-such-account'
  }

/** Person of a session token, read from the store. */
export interface SignedIn {
  readonly session: Session
  readonly account: Account
  /** Undefined: the person has the account's own password and the rights of an owner. */
  readonly user: User | undefined
  readonly balance: Credits
}

/**
 * Returns the person of a session token. Returns undefined if the session has ended, its account is locked, or it may
 * not be used from this origin. With `use` the session stays open for longer. Requests that a page makes by itself are
 * made without `use`.
 */
export const findSession =
  (ports: Pick<Ports, 'accounts' | 'secrets' | 'people'>) =>
  async (token: string, comesFrom?: ComesFrom, use = true): Promise<SignedIn | undefined> => {
    const session = await ports.people.sessions.find(ports.secrets.hashKey(token), sessionBounds, use)
    if (session === undefined) return undefined
    const found = await ports.accounts.find(session.account)
    if (found === undefined || found.account.locked) return undefined
    if (!mayComeFrom(found.account.from, comesFrom)) return undefined
    if (session.user === undefined) return { session, user: undefined, ...found }
    const user = await ports.people.users.find(session.account, session.user)
    return user && { session, user, ...found }
  }

/**
 * Changes the password of the person who is signed in. All own sessions end; the returned one replaces that of the
 * present browser.
 */
export const changePassword =
  (ports: SignInPorts) =>
  async (
    pair: PairToCheck,
    newPassword: string,
    browser: Browser,
  ): Promise<OpenedSession | 'wrong-credentials' | NewPasswordRefusal | 'overloaded' | TooManyFailures> => {
    const refusal = await newPasswordRefusal(ports, newPassword, pair.user)
    if (refusal !== undefined) return refusal
    const checked = await checkHolder(ports, pair)
    if (checked === 'overloaded' || checked === 'wrong-credentials' || 'retryAfterSeconds' in checked) return checked
    const { account, user } = checked
    const password = await ports.secrets.hashPassword(newPassword, user === undefined ? 'requests' : 'sign-in')
    if (user === undefined) await ports.accounts.setPassword(account.id, password)
    else await ports.people.users.setPassword(account.id, user.id, password)
    await ports.people.sessions.endAll(sessionOwner(checked))
    const secondFactor = (await ports.people.secondFactors.find(ownerOf(checked))) !== undefined
    return holders(ports).open({ ...checked, password }, browser, secondFactor)
  }

/** Operations of a signed-in person on that person's own sessions and second factor. */
export const ownSignIn = (ports: SignInPorts) => {
  const factor = ownSecondFactor(ports)
  return {
    listSessions: (holder: Holder) => ports.people.sessions.list(sessionOwner(holder), sessionBounds),
    endSession: (holder: Holder, id: SessionId) => ports.people.sessions.end(sessionOwner(holder), id),
    endOtherSessions: (holder: Holder, but: SessionId) => ports.people.sessions.endAll(sessionOwner(holder), but),
    findSecondFactor: (holder: Holder) => ports.people.secondFactors.find(ownerOf(holder)),
    isSecondFactorRequired: ({ account }: Holder) => ports.people.secondFactors.isRequired(account.id),
    /**
     * Starts the setup of a second factor. Requires the password again, because a person who finds an open session must
     * not lock its owner out.
     */
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
      factor.remove(ownerOf(holder), code, await ports.people.secondFactors.isRequired(holder.account.id)),
  }
}
