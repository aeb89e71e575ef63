import type { Ports } from '../ports.ts'
import { secondsAfter, type Instant } from '../time/instant.ts'
import { OtherKeyError, requireKeyInUse } from '../webhooks/signing-secrets.ts'
import type { SealedSecret } from '../webhooks/secret-box.ts'
import type { KeyHash } from '../accounts/account.ts'
import type { LoginFailureLimit, TooManyFailures } from './secrets.ts'
import type { FactorOwner } from './second-factors.ts'

export type FactorPorts = Pick<
  Ports,
  'secondFactors' | 'secrets' | 'secretBox' | 'loginFailures' | 'clock' | 'webhooks' | 'carrierVersions'
>

/**
 * So many codes of one person are looked at, from all networks together: who is asked for a code has the password
 * (ruling 1.26 counts by network). By the day, that a code of six digits is found is one in 3000.
 */
const codeLimits: readonly LoginFailureLimit[] = [
  { failuresMax: 10, seconds: 60 },
  { failuresMax: 100, seconds: 24 * 60 * 60 },
]

export const recoveryCodesMany = 10

/** A secret to be set up, which nobody has stored yet. */
export interface FactorToSetUp {
  /** Given back with the first code. Good for a quarter of an hour, for this person only. */
  readonly challenge: string
  /** In base32, to be typed. */
  readonly secret: string
  /** An `otpauth:` address, to be scanned. */
  readonly uri: string
}

/** Shown once, each good for one sign-in without the authenticator. */
export interface RecoveryCodes {
  readonly recoveryCodes: readonly string[]
}

export type CodeRefusal = 'wrong-code' | TooManyFailures

const challengeSeconds = 15 * 60

/** What a browser brings back with a code. It is sealed: nobody else makes or reads it. */
export interface Challenge {
  readonly of: FactorOwner
  readonly until: Instant
  /** To be set up. */
  readonly secret?: string | undefined
  /** Of a sign-in that waits for its code: who, and a digest of the password that was right. */
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

/** Undefined: it is over, or was made elsewhere. */
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

/** A new secret for somebody; nothing is stored. Throws an `OtherKeyError` where what is stored has another key. */
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

async function requireKeyOfFactors({ secondFactors, secretBox }: FactorPorts): Promise<void> {
  const last = await secondFactors.lastSecret()
  try {
    if (last !== undefined) secretBox.open(last)
  } catch (problem) {
    throw new OtherKeyError(problem instanceof Error ? problem.message : String(problem), { cause: problem })
  }
}

/** Stores the secret that was to be set up, if the code is one of it. */
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
  const isSet = await ports.secondFactors.set(of, ports.secretBox.seal(secret), step, hashesOf(ports, codes))
  return isSet ? { recoveryCodes: codes } : 'already'
}

/**
 * Whether a code is the authenticator's of now, or a recovery code; it is good once. Each try counts, a right one too,
 * so that of many at the same time no more than the limit are looked at.
 */
export async function checkCode(ports: FactorPorts, of: FactorOwner, code: string): Promise<'right' | CodeRefusal> {
  const tooMany = await tryOnce(ports, of)
  if (tooMany !== undefined) return tooMany
  const { secondFactors, secrets, secretBox, clock } = ports
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
  { loginFailures, secrets }: Pick<Ports, 'loginFailures' | 'secrets'>,
  of: FactorOwner,
): Promise<TooManyFailures | undefined> {
  for (const limit of codeLimits) {
    const key = secrets.hashKey(`codes of ${of} in ${limit.seconds} s`)
    const { isWithinLimit, waitSeconds } = await loginFailures.count(key, limit)
    if (!isWithinLimit) return { retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)) }
  }
  return undefined
}

const digitsOf = (code: string): string => code.replace(/\s/g, '')

/** As a recovery code is hashed: however it was typed. */
const plain = (code: string): string => code.toLowerCase().replace(/[^a-z2-7]/g, '')

/** 80 bits each, in groups of four. */
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

/** What somebody who is signed in does with the own second factor. */
export const ownSecondFactor = (ports: FactorPorts) => ({
  /** 'already': there is one, to be removed first. */
  begin: async (of: FactorOwner, label: string): Promise<FactorToSetUp | 'already'> =>
    (await ports.secondFactors.find(of)) === undefined ? toSetUp(ports, { of }, label) : 'already',

  /** 'over': the challenge is too old, or another's. */
  set: async (
    of: FactorOwner,
    challenge: string,
    code: string,
  ): Promise<RecoveryCodes | CodeRefusal | 'already' | 'over'> => {
    const opened = openChallenge(ports, challenge)
    return opened?.of === of && opened.secret !== undefined ? setUp(ports, opened, code) : 'over'
  },

  /** New recovery codes, for a code; the old ones are good for nothing any more. */
  renewCodes: async (of: FactorOwner, code: string): Promise<RecoveryCodes | CodeRefusal> => {
    const checked = await checkCode(ports, of, code)
    if (checked !== 'right') return checked
    const codes = newCodes(ports)
    const isReplaced = await ports.secondFactors.replaceRecoveryCodes(of, hashesOf(ports, codes))
    return isReplaced ? { recoveryCodes: codes } : 'wrong-code'
  },

  remove: async (of: FactorOwner, code: string, isRequired: boolean): Promise<'removed' | 'required' | CodeRefusal> => {
    if (isRequired) return 'required'
    const checked = await checkCode(ports, of, code)
    if (checked !== 'right') return checked
    await ports.secondFactors.remove(of)
    return 'removed'
  },
})
