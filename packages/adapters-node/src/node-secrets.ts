import { hash as digestOf, randomBytes } from 'node:crypto'
import type { KeyHash } from '@gateway/core/accounts'
import type { Secrets } from '@gateway/core/people'
import { Secret, TOTP } from 'otpauth'
import type { LoginCounts } from './failed-logins.ts'
import { isCommonPassword } from './password-hash.ts'
import { Passwords, type PasswordSettings } from './passwords.ts'

export type NodeSecretsSettings = PasswordSettings

export interface NodeSecrets extends Secrets {
  /** Outcomes of log-ins by user name and password since the start. */
  readonly logins: LoginCounts
  /** Returns the number of log-ins that wait to be hashed. */
  readonly waiting: () => number
}

const totpStepMilliseconds = 30_000

/**
 * Prefix by which people and scanners recognize a key. Three of the six characters that are stored in clear text are
 * random.
 */
const keyPrefix = 'gw_'

/** Creates secrets with the cryptography of Node: scrypt for passwords, SHA-256 for keys. */
export function nodeSecrets(settings: NodeSecretsSettings = {}): NodeSecrets {
  const passwords = new Passwords(settings)
  return {
    logins: passwords.logins,
    waiting: () => passwords.waiting,
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
    hashPassword: (password, use) => passwords.hash(password, use),
    isWeakForSignIn: (hash) => passwords.isWeakForSignIn(hash),
    checkPassword: (attempt) => passwords.check(attempt),
  }
}
