import { createHash, randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordHash } from '@gateway/core'

const deriveKey = promisify<Buffer, Buffer, number, ScryptOptions, Buffer>(scrypt)

/** `ln` 14: 28 ms and 16 MiB a hash on the machine of the measurements. */
const cost = { ln: 14, r: 8, p: 1 }
const saltBytes = 16
const keyBytes = 32

interface Parsed {
  readonly options: ScryptOptions
  readonly salt: Buffer
  readonly key: Buffer
}

/**
 * A new salted hash in PHC form, `$scrypt-sha256$ln=14,r=8,p=1$salt$key`: what it costs is stored with it and can be
 * raised.
 */
export async function hashOf(password: string, ln = cost.ln): Promise<PasswordHash> {
  const salt = randomBytes(saltBytes)
  return write(ln, salt, await deriveKey(digestOf(password), salt, keyBytes, optionsOf(ln, cost.r, cost.p)))
}

/** A hash that no password is known for, as dear to check as any other. */
export const hashOfNothing = (ln = cost.ln): PasswordHash => write(ln, randomBytes(saltBytes), randomBytes(keyBytes))

/** Throws if `stored` is not one of ours, or was written with a cost beyond reason: that is no wrong password. */
export async function isPasswordOf(stored: PasswordHash, password: string): Promise<boolean> {
  const { options, salt, key } = parse(stored)
  return timingSafeEqual(key, await deriveKey(digestOf(password), salt, key.length, options))
}

/** Of fixed length: scrypt itself takes a password and the same with U+0000 behind it for equal. */
const digestOf = (password: string): Buffer => createHash('sha256').update(password).digest()

const write = (ln: number, salt: Buffer, key: Buffer): PasswordHash =>
  `$scrypt-sha256$ln=${ln},r=${cost.r},p=${cost.p}$${encode(salt)}$${encode(key)}` as PasswordHash

const encode = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

function parse(stored: PasswordHash): Parsed {
  const fields =
    /^\$scrypt-sha256\$ln=(\d\d?),r=(\d\d?),p=(\d\d?)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/.exec(stored)
  const [, ln = '', r = '', p = '', salt = '', key = ''] = fields ?? []
  // The value itself stays out of the message, which is logged (P-15).
  if (fields === null || Number(ln) > 20) throw new Error('a stored password hash cannot be read')
  return {
    options: optionsOf(Number(ln), Number(r), Number(p)),
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  }
}

/** Memory is 128·N·r bytes; node refuses what exceeds `maxmem`. */
const optionsOf = (ln: number, r: number, p: number): ScryptOptions => ({
  N: 2 ** ln,
  r,
  p,
  maxmem: 256 * 2 ** ln * r + 1024 * p * r,
})

let known: Promise<ReadonlySet<string>> | undefined

interface Words {
  readonly dictionary: { readonly 'passwords-common': readonly string[] }
}

/** Some 49 000 passwords in lower case, MIT licence. Read when the first password is chosen: it is 400 kB. */
const read = async (): Promise<ReadonlySet<string>> => {
  // CommonJS: a bundle has it as the default only.
  const found: Words & { readonly default?: Words } = await import('@zxcvbn-ts/language-common')
  return new Set((found.default ?? found).dictionary['passwords-common'])
}

/** Whether a password is, in any letter case, one of those that were found most often where passwords were stolen. */
export const isCommonPassword = async (password: string): Promise<boolean> =>
  (await (known ??= read())).has(password.toLowerCase())
