import { createHash, createHmac, randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { KeyHash } from '@gateway/core/accounts'
import type { PasswordAttempt, PasswordHash, PasswordOwner, Secrets, TooManyFailures } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import type { SealedSecret, SecretBox } from '@gateway/core/webhooks'

export interface MemorySecretsSettings {
  /** Number of failures of one user from one network that are answered `wrong`. Default 10. */
  readonly failuresMax?: number
  /** Seconds after the first failure at which all failures are forgotten. Default 60. */
  readonly windowSeconds?: number
  /** Seconds after its last use for which verified credentials count as verified. Default 300. */
  readonly verifiedSeconds?: number
}

/**
 * Creates real keys and passwords and counts failures (ruling 1.26), but hashes passwords quickly, so that tests are
 * fast. Not for production: with a stolen hash billions of passwords can be tried per second.
 */
export function memorySecrets(settings: MemorySecretsSettings = {}): Secrets {
  const { failuresMax = 10, windowSeconds = 60, verifiedSeconds = 300 } = settings
  const verified = new Map<string, { readonly stored: PasswordHash | undefined; readonly at: Instant }>()
  const running = new Map<string, Promise<unknown>>()
  const failures = failureCount(failuresMax, windowSeconds)

  const check = async <Owner extends PasswordOwner>(
    attempt: PasswordAttempt<Owner>,
    pair: string,
    failed: Failures,
  ): Promise<Owner | 'wrong'> => {
    // Count the failure before the check, so that concurrent attempts do not all pass; it is taken back if the password
    // was right.
    failed.count++
    await setImmediate() // lets other calls run, as slow hashes do
    const login = await attempt.stored().catch((problem: unknown) => {
      failed.count--
      throw problem
    })
    if (login === undefined || !matches(attempt.password, login.password) || !attempt.mayUse(login)) return 'wrong'
    failed.count--
    verified.set(pair, { stored: login.password, at: attempt.now })
    return login
  }

  /**
   * Returns the user of recently verified credentials if the password has not changed, and extends the time for which
   * they count as verified.
   */
  const recall = async <Owner extends PasswordOwner>(
    { now, remembered, mayUse }: PasswordAttempt<Owner>,
    pair: string,
  ): Promise<Owner | undefined> => {
    const last = verified.get(pair)
    if (last === undefined || !isWithin(now, last.at, verifiedSeconds)) return undefined
    const login = await remembered()
    if (login === undefined || login.password !== last.stored || !mayUse(login)) return undefined
    verified.set(pair, { stored: last.stored, at: now })
    return login
  }

  return {
    newApiKey: () => randomBytes(32).toString('base64url'),
    newPassword: () => randomBytes(12).toString('base64url'),
    newToken: () => randomBytes(32).toString('base64url'),
    hashKey: (key) => digest(key) as KeyHash,
    newTotpSecret: () => base32(randomBytes(20)),
    totpStep: (secret, code, now) => {
      const step = Math.floor(now / 30_000)
      return [step, step - 1, step + 1].find((each) => each >= 0 && totpCode(secret, each) === code)
    },
    isCommonPassword: (password) => Promise.resolve(common.has(password.toLowerCase())),
    hashPassword: (password, use = 'requests') =>
      Promise.resolve(saltedHash(password, `${use}.${randomBytes(12).toString('base64url')}`)),
    isWeakForSignIn: (hash) => !hash.startsWith('memory$sign-in.'),
    checkPassword: async <Owner extends PasswordOwner>(attempt: PasswordAttempt<Owner>) => {
      const user = attempt.login.toLowerCase()
      const pair = JSON.stringify([user, attempt.password])
      const recalled = await recall(attempt, pair)
      if (recalled !== undefined) return recalled

      const key = JSON.stringify([pair, attempt.network, attempt.address])
      const same = running.get(key)
      if (same !== undefined) return same as ReturnType<typeof check<Owner>>
      const failed = failures(JSON.stringify([user, attempt.network]), attempt.now)
      if ('retryAfterSeconds' in failed) return failed
      const result = check(attempt, pair, failed).finally(() => running.delete(key))
      running.set(key, result)
      return result
    },
  }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const base32 = (bytes: Buffer): string =>
  [...bytes]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
    .replace(/.{5}/g, (bits) => alphabet[parseInt(bits, 2)] ?? '')

/** Returns the six-digit code of a time step (RFC 6238, SHA-1), as an authenticator shows it. */
export function totpCode(secret: string, step: number): string {
  const bits = secret
    .split('')
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hmac = createHmac('sha1', key).update(counter).digest()
  const at = (hmac.at(-1) ?? 0) & 15
  return String((hmac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** A few common passwords, which the contract of `Secrets` checks. */
const common = new Set(['password123', '1234567890', 'qwertyuiop', 'christopher'])

interface Failures {
  readonly since: Instant
  count: number
}

/** Creates a function that returns the failures of one user from one network, or reports that there are too many. */
function failureCount(failuresMax: number, windowSeconds: number) {
  const counts = new Map<string, Failures>()
  return (key: string, now: Instant): Failures | TooManyFailures => {
    const before = counts.get(key)
    const current =
      before !== undefined && isWithin(now, before.since, windowSeconds) ? before : { since: now, count: 0 }
    counts.set(key, current)
    if (current.count < failuresMax) return current
    return { retryAfterSeconds: Math.ceil(windowSeconds - (now - current.since) / 1000) }
  }
}

const isWithin = (now: Instant, since: Instant, seconds: number): boolean =>
  now >= since && now - since < seconds * 1000

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

const saltedHash = (password: string, salt: string): PasswordHash =>
  `memory$${salt}$${digest(salt + password)}` as PasswordHash

function matches(password: string, stored: PasswordHash | undefined): boolean {
  const salt = stored?.split('$')[1]
  return salt !== undefined && saltedHash(password, salt) === stored
}

/** Obscures signing secrets without protecting them: for tests, never for storage. */
export function memorySecretBox(): SecretBox {
  let made = 0
  return {
    newSigningSecret: () => `whsec_${btoa(String(++made).padStart(32, '0'))}`,
    seal: (secret) => `sealed ${secret}` as SealedSecret,
    open: (sealed) => {
      if (!sealed.startsWith('sealed ')) throw new Error('sealed with no key of this box')
      return sealed.slice('sealed '.length)
    },
    isOld: () => false,
    digestsOf: (text) => [`digest ${btoa(text)}`],
  }
}
