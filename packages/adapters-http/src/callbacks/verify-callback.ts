import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import type { ProviderAccount } from '../account.ts'
import { listOf } from '../description/json.ts'
import type { SignatureDescription } from '../description/schema.ts'
import { fillText, placeholdersIn, type Values } from '../description/template.ts'
import { basicAuthorization, secretValues } from '../requests/secret-values.ts'
import { carriedText, type CallbackRequest } from './callback-request.ts'
import { signedBytes } from './signed-pieces.ts'

/**
 * Reason why a callback was not verified. 'no-callbacks': the provider's description has no callbacks. 'no-secret': the
 * operator configured neither the secrets of the signature nor a secret path, so nothing can be verified.
 */
export type CallbackRefusal =
  'no-callbacks' | 'no-secret' | 'wrong-path' | 'no-signature' | 'wrong-signature' | 'too-old'

/** Seconds by which the clock of a provider may be ahead. */
const aheadSeconds = 300
/** Maximum difference between clocks that is tolerated for the times in a JWT, in seconds. */
const clockToleranceSeconds = 60
/** Minimum length of the secret path: 128 random bits in hexadecimal. */
export const pathLengthMin = 32
/** Indexes of the values that a secret can have. During a rotation, a secret has two values. */
const rotations = [0, 1]

/**
 * Verifies that a callback comes from the provider, over its raw body and the public URL. If the account has a secret
 * `path`, the URL must end with it. If it has the secrets of the signature, the signature must be right, too. `now` is
 * in milliseconds since 1970.
 */
export async function verifyCallback(
  account: ProviderAccount,
  request: CallbackRequest,
  now: number,
): Promise<'verified' | CallbackRefusal> {
  const { callbacks } = account.provider.description
  if (callbacks === undefined) return 'no-callbacks'
  const { signature } = callbacks
  const paths = account.secrets['path'] ?? []
  const isSigned = hasSecrets(account, signature)
  if (paths.length === 0 && !isSigned) return 'no-secret'
  if (paths.length > 0 && !paths.some((path) => endsWith(request, path))) return 'wrong-path'
  return isSigned ? verifySignature(account, signature, request, now) : 'verified'
}

/** Returns true if callbacks of the account can be verified, by the secrets of the signature or by a secret path. */
export function isVerifiable(account: ProviderAccount): boolean {
  const { callbacks } = account.provider.description
  if (callbacks === undefined) return false
  return (account.secrets['path'] ?? []).length > 0 || hasSecrets(account, callbacks.signature)
}

/** Returns true if the account has every secret that the key of the signature names. */
function hasSecrets({ secrets }: ProviderAccount, { algorithm, key }: SignatureDescription): boolean {
  if (algorithm === 'path') return false
  const names = listOf(key).flatMap(placeholdersIn)
  return names.every((name) => (secrets[name.slice('secret.'.length)] ?? []).length > 0)
}

function endsWith({ url }: CallbackRequest, path: string): boolean {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return path.length >= pathLengthMin && isSame(last, path)
}

async function verifySignature(
  account: ProviderAccount,
  signature: SignatureDescription,
  request: CallbackRequest,
  now: number,
): Promise<'verified' | CallbackRefusal> {
  const isBasic = signature.algorithm === 'basic'
  const carried = isBasic ? request.headers['authorization'] : carriedText(request, signature.at ?? '')
  if (carried === undefined || carried === '') return 'no-signature'
  const secretsOfRotations = rotations.map((rotation) => secretValues(account, rotation))
  for (const secrets of secretsOfRotations) {
    if (await isRight(signature, carried, secrets, request, now)) return ageProblem(signature, request, now)
  }
  return 'wrong-signature'
}

function ageProblem({ age }: SignatureDescription, request: CallbackRequest, now: number): 'verified' | 'too-old' {
  if (age === undefined) return 'verified'
  const time = Number(carriedText(request, age.at))
  const seconds = time > 1e11 ? time / 1000 : time
  const old = now / 1000 - seconds
  return old <= age.seconds && old >= -aheadSeconds ? 'verified' : 'too-old'
}

async function isRight(
  signature: SignatureDescription,
  carried: string,
  secrets: Values,
  request: CallbackRequest,
  now: number,
): Promise<boolean> {
  const { algorithm, key, over = [], at } = signature
  if (algorithm === 'basic') return isSame(carried, basicAuthorization(listOf(key), secrets))
  const secret = keyOf(signature, secrets)
  if (algorithm === 'jwt') return isRightToken(signature, carried, secret, request, now)
  const bytes = signedBytes(request, over, at)
  const candidates = candidatesOf(signature, carried)
  if (algorithm === 'ed25519') return candidates.some((each) => isRightEd25519(bytes, each, secret))
  const expected = digestOf(algorithm, bytes, secret).toString(signature.encoding ?? 'base64')
  return candidates.some((each) => isSame(signature.encoding === 'hex' ? each.toLowerCase() : each, expected))
}

/** Returns the signatures that a callback carries, without their prefixes. */
function candidatesOf({ several, prefix = '' }: SignatureDescription, carried: string): readonly string[] {
  const all = several === undefined ? [carried] : carried.split(several, 10)
  return all
    .map((each) => each.trim())
    .filter((each) => each.startsWith(prefix))
    .map((each) => each.slice(prefix.length))
}

function keyOf({ key, keyPrefix = '', keyEncoding = 'utf8' }: SignatureDescription, secrets: Values): Buffer {
  const text = String(fillText(listOf(key)[0] ?? '', secrets) ?? '')
  return Buffer.from(text.startsWith(keyPrefix) ? text.slice(keyPrefix.length) : text, keyEncoding)
}

function digestOf(algorithm: string, bytes: Uint8Array, key: Buffer): Buffer {
  if (algorithm.startsWith('hmac-')) return createHmac(algorithm.slice('hmac-'.length), key).update(bytes).digest()
  return createHash(algorithm.replace('+key', '')).update(bytes).update(key).digest()
}

/** `key` is the text of the public key: 32 bytes in base64. */
function isRightEd25519(bytes: Uint8Array, signature: string, key: Buffer): boolean {
  try {
    const x = Buffer.from(key.toString('utf8'), 'base64').toString('base64url')
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, bytes, publicKey, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

/** Verifies a JWT whose claims are hashes of pieces. The hash of an empty body may be absent. */
async function isRightToken(
  { issuer, claims = {} }: SignatureDescription,
  token: string,
  key: Buffer,
  request: CallbackRequest,
  now: number,
): Promise<boolean> {
  // Import on demand, because few providers sign with a JWT.
  const { jwtVerify } = await import('jose')
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256', 'HS384', 'HS512'],
      ...(issuer !== undefined && { issuer }),
      requiredClaims: ['exp', 'nbf'],
      currentDate: new Date(now),
      clockTolerance: clockToleranceSeconds,
    })
    return Object.entries(claims).every(([claim, piece]) => {
      const signed = piece === 'url' ? request.url : request.body
      const expected = createHash('sha256').update(signed).digest('hex')
      return payload[claim] === undefined ? piece === 'body' && signed.length === 0 : payload[claim] === expected
    })
  } catch {
    return false
  }
}

/** Compares two texts in a time that does not depend on where they differ. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
