import type { Brand } from '../brand.ts'

/** Encrypted secret with everything needed to decrypt it except the key. */
export type SealedSecret = Brand<string, 'SealedSecret'>

/** Error of a process whose key file is missing, empty or readable by others. */
export class UnusableKeyError extends Error {}

/** Creates signing secrets of endpoints and encrypts them for storage. They are decrypted only to sign. */
export interface SecretBox {
  /** Returns a new signing secret of 256 bits: `whsec_` and base64 (Standard Webhooks 1.0). */
  newSigningSecret(): string
  /** Encrypts with the current key (AES-256-GCM). Creates a key if this process has none. */
  seal(secret: string): SealedSecret
  /**
   * Decrypts a secret. Throws an Error that says what to do if the secret was altered or was encrypted with a key that
   * this process does not have. Throws an `UnusableKeyError`, as the other methods do, if the key file cannot be used.
   */
  open(sealed: SealedSecret): string
  /** Returns true if the secret was encrypted with another key than the current one. */
  isOld(sealed: SealedSecret): boolean
  /**
   * Returns the HMAC-SHA-256 of a text in hexadecimal, one for each key of this process, the current key first. Creates
   * a key if this process has none.
   */
  digestsOf(text: string): readonly string[]
}
