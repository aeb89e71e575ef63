import { createHash, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordHash, PasswordUse } from '@gateway/core/people'

const deriveKey = promisify<Buffer, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** Cost parameters of scrypt: N = 2^ln, r and p. */
export interface HashCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/**
 * Costs by use. `requests`: 28 ms and 16 MiB per hash on the machine of the measurements, because programs cause hashes
 * with their requests. `sign-in`: six times that work, and 32 MiB, a recommendation of the OWASP Password Storage Cheat
 * Sheet.
 */
export const hashCosts: Readonly<Record<PasswordUse, HashCost>> = {
  requests: { ln: 14, r: 8, p: 1 },
  'sign-in': { ln: 15, r: 8, p: 3 },
}
const saltBytes = 16
const keyBytes = 32

interface Parsed {
  readonly cost: HashCost
  readonly salt: Buffer
  readonly key: Buffer
}

/**
 * Returns a new salted hash in PHC form, `$scrypt-sha256$ln=14,r=8,p=1$salt$key`. The cost is stored with the hash, so
 * that it can be raised later.
 */
export async function hashOf(password: string, cost: HashCost = hashCosts.requests): Promise<PasswordHash> {
  const salt = randomBytes(saltBytes)
  return write(cost, salt, await deriveKey(digestOf(password), salt, keyBytes, optionsOf(cost)))
}

/** Returns a hash for which no password is known. Checking it costs as much as any other check of that cost. */
export const hashOfNothing = (cost: HashCost = hashCosts.requests): PasswordHash =>
  write(cost, randomBytes(saltBytes), randomBytes(keyBytes))

/**
 * Checks a password. Also hashes once at each cost of `alike` other than the cost of the stored hash, so that a check
 * takes the same time for all of these costs. Throws if `stored` is not a hash of `hashOf` or its cost is unreasonable,
 * because such a hash does not mean that the password is wrong.
 */
export async function isPasswordOf(
  stored: PasswordHash,
  password: string,
  alike: readonly HashCost[] = [],
): Promise<boolean> {
  const { cost, salt, key } = parse(stored)
  const digest = digestOf(password)
  const isEqual = timingSafeEqual(key, await deriveKey(digest, salt, key.length, optionsOf(cost)))
  for (const other of alike)
    if (workOf(other) !== workOf(cost)) await deriveKey(digest, salt, key.length, optionsOf(other))
  return isEqual
}

/** True if checking the hash takes less work than `cost`. */
export const isCheaperThan = (stored: PasswordHash, cost: HashCost): boolean =>
  workOf(parse(stored).cost) < workOf(cost)

const workOf = ({ ln, r, p }: HashCost): number => 2 ** ln * r * p

/**
 * Hashes a password to a fixed length, because scrypt treats a password and the same password followed by U+0000 as
 * equal.
 */
const digestOf = (password: string): Buffer => createHash('sha256').update(password).digest()

const write = ({ ln, r, p }: HashCost, salt: Buffer, key: Buffer): PasswordHash =>
  `$scrypt-sha256$ln=${ln},r=${r},p=${p}$${encode(salt)}$${encode(key)}` as PasswordHash

const encode = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

function parse(stored: PasswordHash): Parsed {
  const fields =
    /^\$scrypt-sha256\$ln=(\d\d?),r=(\d\d?),p=(\d\d?)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/.exec(stored)
  const [, ln = '', r = '', p = '', salt = '', key = ''] = fields ?? []
  // The hash itself is not in the message, because the message is logged (P-15).
  if (fields === null || Number(ln) > 20) throw new Error('a stored password hash cannot be read')
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  }
}

/** Memory is 128·N·r bytes. Node refuses more than `maxmem`. */
const optionsOf = ({ ln, r, p }: HashCost): ScryptOptions => ({
  N: 2 ** ln,
  r,
  p,
  maxmem: 256 * 2 ** ln * r + 1024 * p * r,
})

let known: Promise<ReadonlySet<string>> | undefined

interface Words {
  readonly dictionary: { readonly 'passwords-common': readonly string[] }
}

/**
 * Reads some 49,000 passwords in lower case (MIT licence). Loaded when the first password is chosen, because the list
 * has 400 kB.
 */
const read = async (): Promise<ReadonlySet<string>> => {
  // The module is CommonJS: a bundle has it as the default export only.
  const found: Words & { readonly default?: Words } = await import('@zxcvbn-ts/language-common')
  return new Set((found.default ?? found).dictionary['passwords-common'])
}

/** Returns true if a password, in any letter case, is one of those found most often in stolen lists. */
export const isCommonPassword = async (password: string): Promise<boolean> =>
  (await (known ??= read())).has(password.toLowerCase())
