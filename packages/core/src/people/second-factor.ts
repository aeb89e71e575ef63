import type { Ports } from '../ports.ts'
import { secondsAfter, type Instant } from '../time/instant.ts'
import { OtherKeyError, requireKeyInUse } from '../webhooks/signing-secrets.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import type { KeyHash } from '../accounts/account.ts'
import type { LoginFailureLimit, TooManyFailures } from './secrets.ts'
import type { FactorOwner } from './second-factors.ts'

export type FactorPorts = Pick<Ports, 'people' | 'secrets' | 'secretBox' | 'clock' | 'webhooks' | 'carrierVersions'>

/**
 * Limits on the number of codes that are checked for one person, over all networks. They are needed because a person
 * who is asked for a code has the password already, and because ruling 1.26 counts by network. With these limits the
 * probability of guessing a code of six digits is 1 in 3000 per day.
 */
const codeLimits: readonly LoginFailureLimit[] = [
  { failuresMax: 10, seconds: 60 },
  { failuresMax: 100, seconds: 24 * 60 * 60 },
]

export const recoveryCodesMany = 10

/** New secret that is not stored until it is confirmed. */
export interface FactorToSetUp {
  /** Sealed challenge to be returned with the first code. Valid for a quarter of an hour, for this person only. */
  readonly challenge: string
  /** Secret in base32, to be typed. */
  readonly secret: string
  /** Secret as an `otpauth:` address, to be scanned. */
  readonly uri: string
}

/** Recovery codes. They are shown once, and each replaces the authenticator for one sign-in. */
export interface RecoveryCodes {
  readonly recoveryCodes: readonly string[]
}

export type CodeRefusal = 'wrong-code' | TooManyFailures

const challengeSeconds = 15 * 60

/** Data that a browser returns with a code. Sealed, so that only the gateway can create or read it. */
export interface Challenge {
  readonly of: FactorOwner
  readonly until: Instant
  /** Secret to be set up. */
  readonly secret?: string | undefined
  /**
   * `name` and `password` are set for a sign-in that waits for its code. They are the name of the person and a digest
   * of the correct password.
   */
  readonly name?: string | undefined
  readonly password?: KeyHash | undefined
}

const mark = 'challenge '

export const sealChallenge = (
  { secretBox, clock }: Pick<Ports, 'secretBox' | 'clock'>,
  challenge: Omit<Challenge, 'until'>,
): string => {
  const until = secondsAfter(clock.now(), challengeSeconds)
  return secretBox.seal(mark + JSON.stringify({ ...challenge, until }))
}

/** Opens a sealed challenge. Returns undefined if the challenge has expired or was not sealed by this gateway. */
export function openChallenge(
  { secretBox, clock }: Pick<Ports, 'secretBox' | 'clock'>,
  sealed: string,
): Challenge | undefined {
  let text: string
  try {
    text = secretBox.open(sealed as SealedSecret)
  } catch {
    return undefined
  }
  if (!text.startsWith(mark)) return undefined
  const challenge = JSON.parse(text.slice(mark.length)) as Challenge
  return clock.now() < challenge.until ? challenge : undefined
}

/**
 * Creates a new secret for a person without storing it. Throws an `OtherKeyError` if stored secrets have another key.
 */
export async function toSetUp(
  ports: FactorPorts,
  challenge: Omit<Challenge, 'until' | 'secret'>,
  label: string,
): Promise<FactorToSetUp> {
  await requireKeyInUse(ports)
  await requireKeyOfFactors(ports)
  const secret = ports.secrets.newTotpSecret()
  const issuer = 'SMS gateway'
  const name = encodeURIComponent(`${issuer}:${label}`)
  return {
    challenge: sealChallenge(ports, { ...challenge, secret }),
    secret,
    uri: `otpauth://totp/${name}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=30`,
  }
}

async function requireKeyOfFactors({ people, secretBox }: FactorPorts): Promise<void> {
  const last = await people.secondFactors.lastSecret()
  try {
    if (last !== undefined) secretBox.open(last)
  } catch (problem) {
    throw new OtherKeyError(problem instanceof Error ? problem.message : String(problem), { cause: problem })
  }
}

/** Stores the secret of a challenge if the code was generated from that secret. */
export async function setUp(
  ports: FactorPorts,
  { of, secret }: Pick<Challenge, 'of' | 'secret'>,
  code: string,
): Promise<RecoveryCodes | CodeRefusal | 'already'> {
  if (secret === undefined) return 'wrong-code'
  const tooMany = await tryOnce(ports, of)
  if (tooMany !== undefined) return tooMany
  const step = ports.secrets.totpStep(secret, digitsOf(code), ports.clock.now())
  if (step === undefined) return 'wrong-code'
  const codes = newCodes(ports)
  const isSet = await ports.people.secondFactors.set(of, ports.secretBox.seal(secret), step, hashesOf(ports, codes))
  return isSet ? { recoveryCodes: codes } : 'already'
}

/**
 * Checks a code of the authenticator or a recovery code. Each code is accepted once. Every try counts for the limit,
 * including a right one, so that concurrent tries cannot exceed it.
 */
export async function checkCode(ports: FactorPorts, of: FactorOwner, code: string): Promise<'right' | CodeRefusal> {
  const tooMany = await tryOnce(ports, of)
  if (tooMany !== undefined) return tooMany
  const { secrets, secretBox, clock } = ports
  const { secondFactors } = ports.people
  const digits = digitsOf(code)
  if (!/^[0-9]{6}$/.test(digits)) {
    const isRight = await secondFactors.useRecoveryCode(of, secrets.hashKey(plain(code)))
    return isRight ? 'right' : 'wrong-code'
  }
  const factor = await secondFactors.find(of)
  const step = factor && secrets.totpStep(secretBox.open(factor.secret), digits, clock.now())
  return step !== undefined && (await secondFactors.useStep(of, step)) ? 'right' : 'wrong-code'
}

async function tryOnce(
  { people, secrets }: Pick<Ports, 'people' | 'secrets'>,
  of: FactorOwner,
): Promise<TooManyFailures | undefined> {
  for (const limit of codeLimits) {
    const key = secrets.hashKey(`codes of ${of} in ${limit.seconds} s`)
    const { isWithinLimit, waitSeconds } = await people.loginFailures.count(key, limit)
    if (!isWithinLimit) return { retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) }
  }
  return undefined
}

const digitsOf = (code: string): string => code.replace(/\s/g, '')

/** Normalizes a typed recovery code for hashing. */
const plain = (code: string): string => code.toLowerCase().replace(/[^a-z2-7]/g, '')

/** Returns recovery codes of 80 bits each, in groups of four characters. */
const newCodes = ({ secrets }: Pick<Ports, 'secrets'>): readonly string[] =>
  Array.from({ length: recoveryCodesMany }, () =>
    secrets
      .newTotpSecret()
      .slice(0, 16)
      .toLowerCase()
      .replace(/(.{4})(?=.)/g, '$1-'),
  )

const hashesOf = ({ secrets }: Pick<Ports, 'secrets'>, codes: readonly string[]): readonly KeyHash[] =>
  codes.map((code) => secrets.hashKey(plain(code)))

/** Operations of a signed-in person on that person's own second factor. */
export const ownSecondFactor = (ports: FactorPorts) => ({
  /** Returns 'already' if the person has a second factor, which must be removed first. */
  begin: async (of: FactorOwner, label: string): Promise<FactorToSetUp | 'already'> =>
    (await ports.people.secondFactors.find(of)) === undefined ? toSetUp(ports, { of }, label) : 'already',

  /** Returns 'over' if the challenge has expired or belongs to another person. */
  set: async (
    of: FactorOwner,
    challenge: string,
    code: string,
  ): Promise<RecoveryCodes | CodeRefusal | 'already' | 'over'> => {
    const opened = openChallenge(ports, challenge)
    return opened?.of === of && opened.secret !== undefined ? setUp(ports, opened, code) : 'over'
  },

  /** Replaces the recovery codes, for a valid code. The old ones are no longer accepted. */
  renewCodes: async (of: FactorOwner, code: string): Promise<RecoveryCodes | CodeRefusal> => {
    const checked = await checkCode(ports, of, code)
    if (checked !== 'right') return checked
    const codes = newCodes(ports)
    const isReplaced = await ports.people.secondFactors.replaceRecoveryCodes(of, hashesOf(ports, codes))
    return isReplaced ? { recoveryCodes: codes } : 'wrong-code'
  },

  remove: async (of: FactorOwner, code: string, isRequired: boolean): Promise<'removed' | 'required' | CodeRefusal> => {
    if (isRequired) return 'required'
    const checked = await checkCode(ports, of, code)
    if (checked !== 'right') return checked
    await ports.people.secondFactors.remove(of)
    return 'removed'
  },
})
