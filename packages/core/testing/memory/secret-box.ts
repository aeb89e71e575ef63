import type { SealedSecret, SecretBox } from '@gateway/core'

/** Signing secrets that are only hidden from a glance: for tests, never to be kept. */
export function memorySecretBox(): SecretBox {
  let made = 0
  return {
    newSigningSecret: () => `whsec_${btoa(String(++made).padStart(32, '0'))}`,
    seal: (secret) => `sealed ${secret}` as SealedSecret,
    open: (sealed) => {
      if (!sealed.startsWith('sealed ')) throw new Error('sealed with no key of this box')
      return sealed.slice('sealed '.length)
    },
    isOld: () => false,
    digestsOf: (text) => [`digest ${btoa(text)}`],
  }
}
