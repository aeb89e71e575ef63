import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto'
import type { SealedSecret, SecretBox } from '@gateway/core/webhooks'
import { keyFile, keysOfFolder, makeKeysOfFolder } from './secrets-key.ts'

export interface SecretBoxSettings {
  /**
   * Keys in the form of `readSecretsKey`. The first one encrypts, the others only decrypt. If empty, the keys in
   * `folder` are used.
   */
  readonly keys: readonly string[]
  /** Folder of `secrets.key`. The file is created when the first secret is encrypted. */
  readonly folder: string
}

interface Key {
  /** Id of the key in encrypted secrets. It reveals nothing about the key. */
  readonly id: string
  readonly bytes: Buffer
}

const version = '1'
const nonceBytes = 12
const tagBytes = 16

/**
 * Creates a SecretBox that uses AES-256-GCM with a random nonce. An encrypted secret is the version, the id of the key,
 * and nonce, text and tag in base64url, separated by dots; everything is authenticated. The file is read at first use
 * and created only by `seal`.
 */
export function secretBox({ keys, folder }: SecretBoxSettings): SecretBox {
  let read: readonly Key[] = []
  /**
   * Returns the keys, or an empty list if there is no file yet. An empty list is not cached, because another process
   * may create the file at any time.
   */
  const all = (): readonly Key[] => {
    if (read.length === 0) read = (keys.length > 0 ? keys : keysOfFolder(folder)).map(toKey)
    return read
  }
  const currentFirst = () => (all().length > 0 ? all() : makeKeysOfFolder(folder).map(toKey))
  const current = (): Key => {
    const [key] = currentFirst()
    if (key === undefined) throw new Error('no key for stored secrets is configured')
    return key
  }
  return {
    newSigningSecret: () => `whsec_${randomBytes(32).toString('base64')}`,
    seal: (secret) => seal(secret, current()),
    open: (sealed) => open(sealed, all(), folder),
    isOld: (sealed) => partsOf(sealed).id !== all()[0]?.id,
    digestsOf: (text) =>
      currentFirst().map(({ bytes }) => createHmac('sha256', bytes).update(`digest of ${text}`).digest('hex')),
  }
}

const toKey = (text: string): Key => ({
  bytes: Buffer.from(text, 'base64'),
  id: hash('sha256', `key of stored secrets ${text}`, 'hex').slice(0, 12),
})

function seal(secret: string, { id, bytes }: Key): SealedSecret {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(`${version}.${id}`))
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${version}.${id}.${sealed.toString('base64url')}` as SealedSecret
}

function open(sealed: SealedSecret, keys: readonly Key[], folder: string): string {
  const { id, bytes } = partsOf(sealed)
  const key = keys.find((each) => each.id === id)
  if (key === undefined)
    throw new Error(
      `A stored secret was encrypted with the key ${id}, but ${availableKeys(keys, folder)}. ` +
        'Set SECRETS_KEY to the same keys in every process: the current key first, then the older keys.',
    )
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(`${version}.${id}`)).setAuthTag(bytes.subarray(-tagBytes))
  return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

const availableKeys = (keys: readonly Key[], folder: string): string =>
  keys.length === 0
    ? `this process has no key: SECRETS_KEY is not set, and ${keyFile(folder)} does not exist`
    : `this process has only ${keys.map(({ id }) => id).join(', ')}`

function partsOf(sealed: SealedSecret): { readonly id: string; readonly bytes: Buffer } {
  const [found, id, text, more] = sealed.split('.')
  const bytes = Buffer.from(text ?? '', 'base64url')
  if (found !== version || id === undefined || more !== undefined || bytes.length < nonceBytes + tagBytes)
    throw new Error('A stored secret does not have the form of an encrypted secret.')
  return { id, bytes }
}
