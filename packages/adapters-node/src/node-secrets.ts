import { createHmac, hash as digestOf, randomBytes } from 'node:crypto'
import type { KeyHash, AccountId } from '@gateway/core/accounts'
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
import { Secret, TOTP } from 'otpauth'
import {
  failedLoginReports,
  failureCounts,
  recentCounts,
  loginCounts,
  type FailedLogins,
  type LoginCounts,
} from './failed-logins.ts'
import { isOverload, networkQueue } from './network-queue.ts'
import {
  isCommonPassword,
  hashCosts,
  hashOf,
  hashOfNothing,
  isCheaperThan,
  isPasswordOf,
  type HashCost,
} from './password-hash.ts'
import { verifiedPairs } from './verified-pairs.ts'

export interface NodeSecretsSettings {
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

export interface NodeSecrets extends Secrets {
  /** Outcomes of log-ins by user name and password since the start. */
  readonly logins: LoginCounts
  /** Returns the number of log-ins that wait to be hashed. */
  readonly waiting: () => number
}

/** Maximum number of sign-ins that wait to be hashed: at 170 ms a hash the last of them waits 2.1 s. */
const signInsWaitingMax = 12

/** Maximum number of verified pairs to remember. */
const verifiedMax = 10_000

const totpStepMilliseconds = 30_000

/**
 * Prefix by which people and scanners recognize a key. Three of the six characters that are stored in clear text are
 * random.
 */
const keyPrefix = 'gw_'

/**
 * Creates secrets with the cryptography of Node: scrypt for passwords, SHA-256 for keys. Each process remembers its own
 * verified pairs. Networks take turns at hashing; beyond `waitingMax` a log-in is 'overloaded' and has no effect
 * (decision 0010).
 */
export function nodeSecrets(settings: NodeSecretsSettings = {}): NodeSecrets {
  const {
    failuresMax = 10,
    failureSeconds = 60,
    verifiedSeconds = 300,
    hashCost = hashCosts.requests.ln,
    hashesMax = 2,
    isBusy,
    waitingMax = 150,
    waitSecondsMax = 2.1,
    loginFailures = failureCounts(),
    reportFailures = () => undefined,
  } = settings
  const digestKey = randomBytes(32)
  const costs: Readonly<Record<PasswordUse, HashCost>> = {
    requests: { ...hashCosts.requests, ln: hashCost },
    'sign-in': { ...hashCosts['sign-in'], ln: hashCost + 1 },
  }
  const nothing = hashOfNothing(costs.requests)
  const burdens = recentCounts(60)
  const queue = networkQueue({
    atOnceMax: hashesMax,
    ...(isBusy && { isBusy }),
    waitingMax,
    waitSecondsMax,
    burdenOf: (network) => burdens.of(network),
  })
  /** Only one hash for a sign-in at a time joins the queue, so that sign-ins delay requests by at most one hash. */
  const signIns = networkQueue({
    atOnceMax: 1,
    waitingMax: signInsWaitingMax,
    waitSecondsMax,
    burdenOf: (network) => burdens.of(network),
  })
  const inTurn = <T>(use: PasswordUse, network: string, work: () => Promise<T>): Promise<T> => {
    const join = () => queue.run(network, work)
    return use === 'sign-in' ? signIns.run(network, join) : join()
  }
  const verified = verifiedPairs(verifiedSeconds, verifiedMax)
  const closed = closedUsers()
  const logins = loginCounts()
  const reports = failedLoginReports(reportFailures)
  /** Password checks in progress, by key. The type of the owner is `unknown` here; the caller of a check knows it. */
  const running = new Map<string, Promise<unknown>>()

  /** Returns the key of a user and network, which is the same in every process. */
  const userIn = (login: string, network: string): string =>
    digestOf('sha256', JSON.stringify([login, network]), 'base64')

  /** Returns the key of these fields for maps in memory. */
  const digest = (...fields: readonly (string | undefined)[]): string =>
    createHmac('sha256', digestKey).update(JSON.stringify(fields)).digest('base64')

  /** Returns the owner of a recently verified pair if the stored password has not changed since. */
  async function recall<Owner extends PasswordOwner>(
    pair: string,
    { now, remembered, mayUse }: PasswordAttempt<Owner>,
  ): Promise<Owner | undefined> {
    const against = verified.against(pair, now)
    const login = against === undefined ? undefined : await remembered()
    if (against === undefined || login === undefined || digest(login.password) !== against || !mayUse(login))
      return undefined
    verified.renew(pair, against, now)
    return login
  }

  /**
   * Checks a password. Takes the same time for an unknown name as for a wrong password: one look-up, one hash and one
   * count.
   */
  async function hash<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
    user: string,
  ): Promise<Owner | 'wrong' | TooManyFailures> {
    const { password, network, now, use = 'requests', stored, mayUse } = attempt
    // The user may have reached the limit of failures while this attempt waited.
    const tooMany = closed.of(user, now)
    if (tooMany !== undefined) return tooMany
    const login = await stored()
    const matches = await isPasswordOf(
      login?.password ?? nothing,
      password,
      use === 'sign-in' ? Object.values(costs) : [],
    )
    if (matches && login?.password !== undefined && mayUse(login)) return login
    burdens.add(network)
    reports.failed(user, accountOf(login), network)
    const { isWithinLimit, waitSeconds } = await loginFailures.count(user, { failuresMax, seconds: failureSeconds })
    if (waitSeconds > 0) closed.close(user, now, waitSeconds)
    return isWithinLimit ? 'wrong' : { retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) }
  }

  async function check<Owner extends PasswordOwner>(attempt: PasswordAttempt<Owner>, pair: string, user: string) {
    const { network, now, use = 'requests' } = attempt
    const tooMany = closed.of(user, now)
    if (tooMany !== undefined) {
      reports.failedAgain(user, network)
      return tooMany
    }
    try {
      const login = await inTurn(use, network, () => hash(attempt, user))
      if (login !== 'wrong' && 'password' in login) verified.renew(pair, digest(login.password), now)
      return login
    } catch (problem) {
      if (!isOverload(problem)) throw problem
      burdens.add(network)
      return 'overloaded'
    }
  }

  function checkOnce<Owner extends PasswordOwner>(attempt: PasswordAttempt<Owner>, pair: string, login: string) {
    const key = digest(pair, attempt.network, attempt.address)
    const same = running.get(key)
    if (same !== undefined) return same as ReturnType<typeof check<Owner>>
    const checked = check(attempt, pair, userIn(login, attempt.network)).finally(() => running.delete(key))
    running.set(key, checked)
    return checked
  }

  return {
    logins,
    waiting: () => queue.waiting + signIns.waiting,
    newApiKey: () => keyPrefix + randomBytes(32).toString('base64url'),
    newPassword: () => randomBytes(15).toString('base64url'),
    newToken: () => randomBytes(32).toString('base64url'),
    hashKey: (key) => digestOf('sha256', key, 'hex') as KeyHash,
    isCommonPassword,
    newTotpSecret: () => new Secret({ size: 20 }).base32,
    totpStep(secret, code, now) {
      const delta = new TOTP({ secret: Secret.fromBase32(secret) }).validate({ token: code, timestamp: now, window: 1 })
      return delta === null ? undefined : Math.floor(now / totpStepMilliseconds) + delta
    },
    hashPassword: (password, use = 'requests') => inTurn(use, '', () => hashOf(password, costs[use])),
    isWeakForSignIn: (hash) => isCheaperThan(hash, costs['sign-in']),
    async checkPassword(attempt) {
      const login = attempt.login.toLowerCase()
      const pair = digest(login, attempt.password)
      const checked = (await recall(pair, attempt)) ?? (await checkOnce(attempt, pair, login))
      logins.count(checked)
      return checked
    },
  }
}

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
