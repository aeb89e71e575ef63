import type { Brand } from '../brand.ts'

/** An encrypted secret with what is needed to decrypt it but the key. */
export type SealedSecret = Brand<string, 'SealedSecret'>

/** The keys of this process cannot be used, whatever is stored: its file has them for others to read, or has none. */
export class UnusableKeyError extends Error {}

/** Signing secrets of endpoints: made here, stored encrypted, opened only to sign. */
export interface SecretBox {
  /** A new signing secret of 256 bits, `whsec_` and base64 (Standard Webhooks 1.0). */
  newSigningSecret(): string
  /** Encrypts and authenticates (AES-256-GCM) with the current key; makes one where this process has none. */
  seal(secret: string): SealedSecret
  /**
   * Throws an Error that says what to do if it was sealed with no key that this process has, or was changed; an
   * `UnusableKeyError` where that of the process is at fault, as the others do.
   */
  open(sealed: SealedSecret): string
  /** Whether it was sealed with another key than the current one, and is to be sealed again. */
  isOld(sealed: SealedSecret): boolean
  /**
   * Stands for a text, and says nothing of it to whoever has no key: HMAC-SHA-256 in hexadecimal, with each key that
   * this process has, the current one first; makes one where it has none.
   */
  digestsOf(text: string): readonly string[]
}
