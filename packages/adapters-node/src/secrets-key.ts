import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { UnusableKeyError } from '@gateway/core/webhooks'

/**
 * Parses a key of 32 bytes in base64, base64url or hexadecimal and returns it in base64, or undefined for any other
 * text.
 */
export function readSecretsKey(text: string): string | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex').toString('base64')
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64').toString('base64') : undefined
}

/**
 * Reads the keys in `secrets.key` of a folder, the current one first. Returns an empty list if there is no file. Throws
 * an `UnusableKeyError`, whose message says what to do, for a file that others may read, that cannot be read, or that
 * contains no keys.
 */
export function keysOfFolder(folder: string): readonly string[] {
  const path = keyFile(folder)
  const text = readOwn(path)
  return text === undefined ? [] : keysIn(path, text)
}

/**
 * Reads the keys like `keysOfFolder`, and creates a missing file in the existing folder, with one key and readable by
 * its owner only. Concurrent processes end with the same key.
 */
export function makeKeysOfFolder(folder: string): readonly string[] {
  const path = keyFile(folder)
  return keysIn(path, readOwn(path) ?? make(folder, path))
}

export const keyFile = (folder: string): string => join(folder, 'secrets.key')

function keysIn(path: string, text: string): readonly string[] {
  const keys = text.split(/[\s,]+/).filter((part) => part !== '')
  const read = keys.map(readSecretsKey).filter((key) => key !== undefined)
  if (read.length === 0 || read.length < keys.length)
    throw new UnusableKeyError(
      `${path} must hold keys of 32 bytes in base64, and nothing else. Put the file back, or set SECRETS_KEY.`,
    )
  return read
}

function readOwn(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UnusableKeyError(`The keys of stored secrets cannot be read: ${(problem as Error).message}`, {
      cause: problem,
    })
  }
  try {
    const { mode } = fstatSync(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new UnusableKeyError(
        `${path} can be used by others than its owner (mode ${(mode & 0o777).toString(8)}): chmod 600 ${path}`,
      )
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the file under a temporary name, then links it to its own name. It therefore appears complete, and if several
 * processes create it, the first file stays.
 */
function make(folder: string, path: string): string {
  mkdirSync(folder, { recursive: true })
  const aside = `${path}.${randomBytes(8).toString('hex')}`
  const file = openSync(aside, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(32).toString('base64')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(aside, path)
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code !== 'EEXIST') throw problem
  } finally {
    unlinkSync(aside)
  }
  return readOwn(path) ?? ''
}
