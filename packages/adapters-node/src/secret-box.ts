import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import type { SealedSecret, SecretBox } from '@gateway/core'
import { keysOfFolder } from './secrets-key.ts'

export interface SecretBoxSettings {
  /** As `readSecretsKey` gives them: the first one seals, the others only open. None: those of `folder`. */
  readonly keys: readonly string[]
  /** Where `secrets.key` is, or is made at first use. */
  readonly folder: string
}

interface Key {
  /** Stands for the key in what it sealed, and says nothing of it. */
  readonly id: string
  readonly bytes: Buffer
}

const version = '1'
const nonceBytes = 12
const tagBytes = 16

/**
 * A SecretBox by AES-256-GCM with a random nonce. Sealed: version, id of the key, and nonce, text and tag in base64url, separated by
 * dots; all of it is authenticated. The file is read at first use.
 */
export function secretBox({ keys, folder }: SecretBoxSettings): SecretBox {
  let read: readonly [Key, ...Key[]] | undefined
  const all = () => (read ??= toKeys(keys.length > 0 ? keys : keysOfFolder(folder)))
  return {
    newSigningSecret: () => `whsec_${randomBytes(32).toString('base64')}`,
    seal: (secret) => seal(secret, all()[0]),
    open: (sealed) => open(sealed, all()),
    isOld: (sealed) => partsOf(sealed).id !== all()[0].id,
  }
}

function toKeys(texts: readonly string[]): readonly [Key, ...Key[]] {
  const [first, ...others] = texts.map((text) => {
    const bytes = Buffer.from(text, 'base64')
    return { bytes, id: hash('sha256', `key of stored secrets ${text}`, 'hex').slice(0, 12) }
  })
  if (first === undefined) throw new Error('no key for stored secrets')
  return [first, ...others]
}

function seal(secret: string, { id, bytes }: Key): SealedSecret {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(`${version}.${id}`))
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${version}.${id}.${sealed.toString('base64url')}` as SealedSecret
}

function open(sealed: SealedSecret, keys: readonly Key[]): string {
  const { id, bytes } = partsOf(sealed)
  const key = keys.find((each) => each.id === id)
  if (key === undefined)
    throw new Error(
      `A stored secret was sealed with the key ${id}, which this process does not have: it has ${keys.map((each) => each.id).join(', ')}. ` +
        'Set SECRETS_KEY to the same keys everywhere, the older ones behind the current one.',
    )
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(`${version}.${id}`)).setAuthTag(bytes.subarray(-tagBytes))
  return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
}

function partsOf(sealed: SealedSecret): { readonly id: string; readonly bytes: Buffer } {
  const [found, id, text, more] = sealed.split('.')
  const bytes = Buffer.from(text ?? '', 'base64url')
  if (found !== version || id === undefined || more !== undefined || bytes.length < nonceBytes + tagBytes)
    throw new Error('A stored secret is not in the form in which secrets are sealed.')
  return { id, bytes }
}
