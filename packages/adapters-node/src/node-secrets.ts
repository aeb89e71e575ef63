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
  /** So many failures of one user from one network are answered 'wrong'; the next one is one too many. Default 10. */
  readonly failuresMax?: number
  /** Each is forgotten after so long. Default 60. */
  readonly failureSeconds?: number
  /** So long after its last use a pair that was right stays right without being hashed. Default 300. */
  readonly verifiedSeconds?: number
  /** Binary logarithm of N of scrypt, for the hashes of `requests`; those of `sign-in` have twice the N. Default 14. */
  readonly hashCost?: number
  /**
   * Passwords that are hashed at a time. Default 2: two of the four threads that files and look-ups of names need too.
   */
  readonly hashesMax?: number
  /** While this is true one is hashed at a time. Default: never. */
  readonly isBusy?: () => boolean
  /**
   * Passwords that may wait to be hashed. Default 150: at 28 ms a hash and two at a time the last of them waits 2.1 s.
   */
  readonly waitingMax?: number
  /**
   * Where hashing takes longer, no more wait than are hashed in so long, but always ten times `hashesMax`. Default 2.1.
   */
  readonly waitSecondsMax?: number
  /** Where failures of all processes are counted together. Without it each process counts alone. */
  readonly loginFailures?: LoginFailures | undefined
  /** Is told of failed log-ins, of each account and network at most once a minute. */
  readonly reportFailures?: (failed: FailedLogins) => void
}

export interface NodeSecrets extends Secrets {
  /** What became of log-ins by a pair, since the start. */
  readonly logins: LoginCounts
  /** How many of them wait to be hashed now. */
  readonly waiting: () => number
}

/** Maximum number of sign-ins that wait to be hashed: at 170 ms a hash the last of them waits 2.1 s. */
const signInsWaitingMax = 12

/** So many pairs that were right are remembered. */
const verifiedMax = 10_000

const totpStepMilliseconds = 30_000

/** By which people and scanners know a key of ours. Three of the six characters that are stored in clear are chance. */
const keyPrefix = 'gw_'

/**
 * Secrets by node's cryptography: scrypt for passwords, SHA-256 for keys. Right pairs are remembered by this process
 * alone. Networks take turns at being hashed; beyond `waitingMax` a log-in is 'overloaded' with nothing done (decision
 * 0010).
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
  /** Only the hash of one person at a time joins the queue: sign-ins delay requests by one hash at the most. */
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
  /** Of whom they are is known to who asks. */
  const running = new Map<string, Promise<unknown>>()

  /** Stands for user and network, in every process. */
  const userIn = (login: string, network: string): string =>
    digestOf('sha256', JSON.stringify([login, network]), 'base64')

  /** Stands for its fields in memory. */
  const digest = (...fields: readonly (string | undefined)[]): string =>
    createHmac('sha256', digestKey).update(JSON.stringify(fields)).digest('base64')

  /** Who uses a pair that was right lately, if the stored password is still the one it was right against. */
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

  /** As long for a name that nobody has as for a wrong password: one look-up, one hash and one count. */
  async function hash<Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
    user: string,
  ): Promise<Owner | 'wrong' | TooManyFailures> {
    const { password, network, now, use = 'requests', stored, mayUse } = attempt
    // What failed while this one waited counts, too.
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

/** The account of a failed log-in, for reports; null: nobody's, or an operator's. */
const accountOf = (owner: (PasswordOwner & Partial<Pick<Login, 'account'>>) | undefined): AccountId | null =>
  owner?.account?.id ?? null

/** More users than can fail while they are hashed one after the other. */
const closedMax = 10_000

/** Users with too many failures, as this process knows of them: nothing is asked or hashed for these. */
function closedUsers() {
  const closed = new LRUCache<string, { readonly from: Instant; readonly until: Instant }>({ max: closedMax })
  return {
    close: (user: string, from: Instant, seconds: number) =>
      void closed.set(user, { from, until: secondsAfter(from, seconds) }),
    of(user: string, now: Instant): TooManyFailures | undefined {
      const { from = now, until = now } = closed.peek(user) ?? {}
      // A clock that was set back ends a wait.
      if (now < from || now >= until) return undefined
      return { retryAfterSeconds: Math.max(1, Math.ceil((until - now) / 1000)) }
    },
  }
}
