import { createHmac, hash as digestOf, randomBytes } from 'node:crypto'
import type { AccountId } from '@gateway/core/accounts'
import type {
  Login,
  LoginFailures,
  PasswordAttempt,
  PasswordOwner,
  PasswordUse,
  Secrets,
  TooManyFailures,
} from '@gateway/core/people'
import { secondsAfter, type Instant } from '@gateway/core/time'
import { LRUCache } from 'lru-cache'
import {
  failedLoginReports,
  failureCounts,
  loginCounts,
  recentCounts,
  type FailedLogins,
  type LoginCounts,
} from './failed-logins.ts'
import { isOverload, NetworkQueue } from './network-queue.ts'
import { hashCosts, hashOf, hashOfNothing, isCheaperThan, isPasswordOf, type HashCost } from './password-hash.ts'
import { verifiedPairs } from './verified-pairs.ts'

export interface PasswordSettings {
  /** Maximum number of failures of one user from one network that are answered 'wrong'. Default 10. */
  readonly failuresMax?: number
  /** Seconds after which a failure expires. Default 60. */
  readonly failureSeconds?: number
  /** Seconds after its last use for which a verified pair is accepted without hashing. Default 300. */
  readonly verifiedSeconds?: number
  /**
   * Binary logarithm of N of scrypt for the hashes of `requests`. Hashes of `sign-in` have twice that N. Default 14.
   */
  readonly hashCost?: number
  /**
   * Maximum number of concurrent hashes. Default 2, which leaves two of the four threads for files and name resolution.
   */
  readonly hashesMax?: number
  /** While it returns true, only one password is hashed at a time. Default: never. */
  readonly isBusy?: () => boolean
  /**
   * Maximum number of passwords that wait to be hashed. Default 150: at 28 ms a hash and two at a time the last one
   * waits 2.1 s.
   */
  readonly waitingMax?: number
  /**
   * Maximum waiting time in seconds, which limits the queue when hashes take longer than usual. At least ten times
   * `hashesMax` passwords may always wait. Default 2.1.
   */
  readonly waitSecondsMax?: number
  /** Shared counter of the failures of all processes. Without it each process counts alone. */
  readonly loginFailures?: LoginFailures | undefined
  /** Called with failed log-ins, at most once a minute for each account and network. */
  readonly reportFailures?: (failed: FailedLogins) => void
}

/** Maximum number of sign-ins that wait to be hashed: at 170 ms a hash the last of them waits 2.1 s. */
const signInsWaitingMax = 12

/** Maximum number of verified pairs to remember. */
const verifiedMax = 10_000

type Checked<Owner> = Owner | 'wrong' | 'overloaded' | TooManyFailures

/**
 * Hashes and checks passwords with scrypt. Each process remembers its own verified pairs. Networks take turns at
 * hashing; beyond `waitingMax` a log-in is 'overloaded' and has no effect (decision 0010).
 */
export class Passwords {
  /** Outcomes of log-ins by user name and password since the start. */
  readonly logins: LoginCounts
  readonly #failures: { readonly failuresMax: number; readonly seconds: number }
  readonly #loginFailures: LoginFailures
  readonly #costs: Readonly<Record<PasswordUse, HashCost>>
  /** Hash that is compared with the password of an unknown name. */
  readonly #nothing: ReturnType<typeof hashOfNothing>
  readonly #digestKey = randomBytes(32)
  /** Recent failures by network. */
  readonly #burdens = recentCounts(60)
  readonly #queue: NetworkQueue
  /** Only one hash for a sign-in at a time joins the queue, so that sign-ins delay requests by at most one hash. */
  readonly #signIns: NetworkQueue
  readonly #verified: ReturnType<typeof verifiedPairs>
  readonly #closed = closedUsers()
  readonly #reports: ReturnType<typeof failedLoginReports>
  /** Password checks in progress, by key. The type of the owner is `unknown` here; the caller of a check knows it. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(settings: PasswordSettings) {
    const { hashCost = hashCosts.requests.ln, hashesMax = 2, isBusy, waitingMax = 150, waitSecondsMax = 2.1 } = settings
    const { failuresMax = 10, failureSeconds = 60, verifiedSeconds = 300, reportFailures = () => undefined } = settings
    this.logins = loginCounts()
    this.#failures = { failuresMax, seconds: failureSeconds }
    this.#loginFailures = settings.loginFailures ?? failureCounts()
    this.#costs = {
      requests: { ...hashCosts.requests, ln: hashCost },
      'sign-in': { ...hashCosts['sign-in'], ln: hashCost + 1 },
    }
    this.#nothing = hashOfNothing(this.#costs.requests)
    const shared = { waitSecondsMax, burdenOf: (network: string) => this.#burdens.of(network) }
    this.#queue = new NetworkQueue({ ...shared, atOnceMax: hashesMax, waitingMax, ...(isBusy && { isBusy }) })
    this.#signIns = new NetworkQueue({ ...shared, atOnceMax: 1, waitingMax: signInsWaitingMax })
    this.#verified = verifiedPairs(verifiedSeconds, verifiedMax)
    this.#reports = failedLoginReports(reportFailures)
  }

  /** Number of passwords that wait to be hashed. */
  get waiting(): number {
    return this.#queue.waiting + this.#signIns.waiting
  }

  hash(password: string, use: PasswordUse = 'requests'): ReturnType<typeof hashOf> {
    return this.#inTurn(use, '', () => hashOf(password, this.#costs[use]))
  }

  isWeakForSignIn(hash: Parameters<Secrets['isWeakForSignIn']>[0]): boolean {
    return isCheaperThan(hash, this.#costs['sign-in'])
  }

  async check<Owner extends PasswordOwner>(attempt: PasswordAttempt<Owner>): Promise<Checked<Owner>> {
    const login = attempt.login.toLowerCase()
    const pair = this.#digest(login, attempt.password)
    const checked = (await this.#recall(pair, attempt)) ?? (await this.#checkOnce(attempt, pair, login))
    this.logins.count(checked)
    return checked
  }

  /** Returns the owner of a recently verified pair if the stored password has not changed since. */
  async #recall<Owner extends PasswordOwner>(
    pair: string,
    { now, remembered, mayUse }: PasswordAttempt<Owner>,
  ): Promise<Owner | undefined> {
    const against = this.#verified.against(pair, now)
    const login = against === undefined ? undefined : await remembered()
    if (against === undefined || login === undefined || this.#digest(login.password) !== against || !mayUse(login))
      return undefined
    this.#verified.renew(pair, against, now)
    return login
  }

  #checkOnce<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
    pair: string,
    login: string,
  ): Promise<Checked<Owner>> {
    const key = this.#digest(pair, attempt.network, attempt.address)
    const same = this.#running.get(key)
    if (same !== undefined) return same as Promise<Checked<Owner>>
    const checked = this.#checkInTurn(attempt, pair, userIn(login, attempt.network)).finally(() =>
      this.#running.delete(key),
    )
    this.#running.set(key, checked)
    return checked
  }

  async #checkInTurn<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
    pair: string,
    user: string,
  ): Promise<Checked<Owner>> {
    const { network, now, use = 'requests' } = attempt
    const tooMany = this.#closed.of(user, now)
    if (tooMany !== undefined) {
      this.#reports.failedAgain(user, network)
      return tooMany
    }
    try {
      const login = await this.#inTurn(use, network, () => this.#compare(attempt, user))
      if (login !== 'wrong' && 'password' in login) this.#verified.renew(pair, this.#digest(login.password), now)
      return login
    } catch (problem) {
      if (!isOverload(problem)) throw problem
      this.#burdens.add(network)
      return 'overloaded'
    }
  }

  /**
   * Compares a password with the stored hash. Takes the same time for an unknown name as for a wrong password: one
   * look-up, one hash and one count.
   */
  async #compare<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
    user: string,
  ): Promise<Owner | 'wrong' | TooManyFailures> {
    const { password, network, now, use = 'requests', stored, mayUse } = attempt
    // The user may have reached the limit of failures while this attempt waited.
    const tooMany = this.#closed.of(user, now)
    if (tooMany !== undefined) return tooMany
    const login = await stored()
    const further = use === 'sign-in' ? Object.values(this.#costs) : []
    const matches = await isPasswordOf(login?.password ?? this.#nothing, password, further)
    if (matches && login?.password !== undefined && mayUse(login)) return login
    this.#burdens.add(network)
    this.#reports.failed(user, accountOf(login), network)
    const { isWithinLimit, waitSeconds } = await this.#loginFailures.count(user, this.#failures)
    if (waitSeconds > 0) this.#closed.close(user, now, waitSeconds)
    return isWithinLimit ? 'wrong' : { retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) }
  }

  #inTurn<T>(use: PasswordUse, network: string, work: () => Promise<T>): Promise<T> {
    const join = () => this.#queue.run(network, work)
    return use === 'sign-in' ? this.#signIns.run(network, join) : join()
  }

  /** Returns the key of these fields for maps in memory. */
  #digest(...fields: readonly (string | undefined)[]): string {
    return createHmac('sha256', this.#digestKey).update(JSON.stringify(fields)).digest('base64')
  }
}

/** Returns the key of a user and network, which is the same in every process. */
const userIn = (login: string, network: string): string =>
  digestOf('sha256', JSON.stringify([login, network]), 'base64')

/** Returns the account of a failed log-in for reports. Null for an unknown name or an operator. */
const accountOf = (owner: (PasswordOwner & Partial<Pick<Login, 'account'>>) | undefined): AccountId | null =>
  owner?.account?.id ?? null

/**
 * Maximum number of users to remember. Because hashing limits the rate of failures, fewer users have too many failures
 * at a time.
 */
const closedMax = 10_000

/** Users with too many failures, as far as this process knows. Their attempts cause no look-up and no hash. */
function closedUsers() {
  const closed = new LRUCache<string, { readonly from: Instant; readonly until: Instant }>({ max: closedMax })
  return {
    close: (user: string, from: Instant, seconds: number) =>
      void closed.set(user, { from, until: secondsAfter(from, seconds) }),
    of(user: string, now: Instant): TooManyFailures | undefined {
      const { from = now, until = now } = closed.peek(user) ?? {}
      // A clock that was set back ends the wait.
      if (now < from || now >= until) return undefined
      return { retryAfterSeconds: Math.max(1, Math.ceil((until - now) / 1000)) }
    },
  }
}
