import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { KeyHash, PasswordAttempt, Secrets } from '@gateway/core'
import { failureCounts } from './failure-counts.ts'
import { hashOf, hashOfNothing, isPasswordOf } from './password-hash.ts'
import { isOverload, takeTurns } from './take-turns.ts'
import { verifiedPairs } from './verified-pairs.ts'

export interface NodeSecretsSettings {
  /** So many failures of one user from one network are answered 'wrong'; the next one is one too many. Default 10. */
  readonly failuresMax?: number
  /** Each is forgotten after so long. Default 60. */
  readonly failureSeconds?: number
  /** So long a pair that was right stays right without being hashed. Default 60. */
  readonly verifiedSeconds?: number
  /** So many such pairs are remembered. Default 10 000. */
  readonly verifiedMax?: number
  /** Passwords that are hashed at a time. Default 2: two of the four threads that files and look-ups of names need too. */
  readonly hashesMax?: number
  /** Passwords that may wait to be hashed. Default 1000: 14 s on two cores. */
  readonly waitingMax?: number
  /** Of these, from one network. Default 100. */
  readonly waitingPerNetworkMax?: number
}

/** By which people and scanners know a key of ours. Three of the six characters that are stored in clear are chance. */
const keyPrefix = 'gw_'

/**
 * Secrets by node's own cryptography: scrypt for passwords, SHA-256 for keys. Failures and right pairs are remembered by
 * this process alone. Beyond the bounds of what may wait `checkPassword` answers 'overloaded', and `hashPassword` rejects: nothing was
 * hashed or counted (ruling 1.25).
 */
export function nodeSecrets(settings: NodeSecretsSettings = {}): Secrets {
  const { failuresMax = 10, failureSeconds = 60, verifiedSeconds = 60, verifiedMax = 10_000 } = settings
  const { hashesMax = 2, waitingMax = 1000, waitingPerNetworkMax = 100 } = settings
  const digestKey = randomBytes(32)
  const nothing = hashOfNothing()
  const turns = takeTurns({ atOnceMax: hashesMax, waitingMax, waitingPerNetworkMax })
  const verified = verifiedPairs(verifiedSeconds, verifiedMax)
  const failures = failureCounts(failuresMax, failureSeconds)
  const running = new Map<string, ReturnType<Secrets['checkPassword']>>()

  /** Stands for its fields in memory; a changed password has another hash, and so another digest. */
  const digest = (...fields: readonly (string | undefined)[]): string =>
    createHmac('sha256', digestKey).update(JSON.stringify(fields)).digest('base64')

  /** Counted before it is hashed, or else as many guesses as come at the same time would find room. */
  async function check({ password, stored, network, now }: PasswordAttempt, pair: string, user: string) {
    const takeBack = failures.count(user, now)
    if (typeof takeBack === 'object') return takeBack
    try {
      const matches = await turns.run(network, () => isPasswordOf(stored ?? nothing, password))
      if (!matches || stored === undefined) return 'wrong'
    } catch (problem) {
      takeBack()
      if (isOverload(problem)) return 'overloaded'
      throw problem
    }
    takeBack()
    verified.add(pair, now)
    return 'right'
  }

  return {
    newApiKey: () => keyPrefix + randomBytes(32).toString('base64url'),
    newPassword: () => randomBytes(15).toString('base64url'),
    hashKey: (key) => createHash('sha256').update(key).digest('hex') as KeyHash,
    hashPassword: (password) => turns.run('', () => hashOf(password)),
    async checkPassword(attempt) {
      const { password, stored, network, now } = attempt
      const login = attempt.login.toLowerCase()
      const pair = digest(login, password, stored)
      if (verified.has(pair, now)) return 'right'
      const key = digest(pair, network)
      const same = running.get(key)
      if (same !== undefined) return same
      const checked = check(attempt, pair, digest(login, network)).finally(() => running.delete(key))
      running.set(key, checked)
      return checked
    },
  }
}
