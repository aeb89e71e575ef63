import { createHmac } from 'node:crypto'

interface Signed {
  readonly id: string
  readonly timestamp: number
  readonly body: Uint8Array
}

/**
 * The value of `webhook-signature` by Standard Webhooks 1.0: an HMAC-SHA256 for each secret (`whsec_` and base64), the first one
 * first, separated by a space.
 */
export const sign = ({ id, timestamp, body }: Signed, secrets: readonly string[]): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
    })
    .join(' ')
