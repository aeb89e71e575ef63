import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Callback as a provider sends it. */
export interface SentCallback {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Recorded {
  readonly secrets: Readonly<Record<string, string>>
  readonly baseUrl?: string
  readonly currency?: string
  readonly callbacks: readonly (Omit<SentCallback, 'body'> & {
    readonly title: string
    readonly body: unknown
    readonly read: Stored
  })[]
}

/** Entries that a callback contains, in the form that the tables of recorded callbacks use. */
export interface Stored {
  readonly receipts: readonly { readonly reference?: string; readonly code: number }[]
  readonly messages: readonly { readonly from: string; readonly text: string }[]
  readonly unread: readonly { readonly reference?: string }[]
}

export const secretPath = 'f0e1d2c3b4a5968778695a4b3c2d1e0f'
const telnyxKeys = generateKeyPairSync('ed25519')

interface Signed {
  readonly secrets?: Readonly<Record<string, string>>
  sign(callback: SentCallback, now: number): SentCallback
}

const withHeaders = (callback: SentCallback, headers: SentCallback['headers']): SentCallback => ({
  ...callback,
  headers: { ...callback.headers, ...headers },
})

/** Signs as Twilio documents it: HMAC-SHA1 over the URL and the sorted fields of the form. */
function signAsTwilio(callback: SentCallback): SentCallback {
  const fields = [...new URLSearchParams(callback.body)].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = callback.url + fields.map(([name, value]) => name + value).join('')
  return withHeaders(callback, {
    'x-twilio-signature': createHmac('sha1', 'tok-secret').update(text).digest('base64'),
  })
}

function signAsTelnyx(callback: SentCallback, now: number): SentCallback {
  const seconds = String(Math.floor(now / 1000))
  const signature = sign(null, Buffer.from(`${seconds}|${callback.body}`), telnyxKeys.privateKey)
  return withHeaders(callback, {
    'telnyx-timestamp': seconds,
    'telnyx-signature-ed25519': signature.toString('base64'),
  })
}

/** Puts the secret path at the end of the URL. */
const withPath = (callback: SentCallback): SentCallback => ({
  ...callback,
  url: callback.url.replace(/[^/?]+(?=\?|$)/, secretPath),
})

const signers = {
  twilio: { sign: signAsTwilio },
  vonage: { secrets: { path: secretPath }, sign: withPath },
  infobip: {
    sign: (callback) =>
      withHeaders(callback, { authorization: `Basic ${Buffer.from('cb:cbpass').toString('base64')}` }),
  },
  telnyx: {
    secrets: {
      publicKey: telnyxKeys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64'),
    },
    sign: signAsTelnyx,
  },
  africastalking: { secrets: { path: secretPath }, sign: withPath },
} as const satisfies Record<string, Signed>

export type SignedProvider = keyof typeof signers

export const signedProviders = Object.keys(signers) as readonly SignedProvider[]

const recordedOf = (name: SignedProvider): Recorded => {
  const file = new URL(`../../../packages/adapters-http/providers/${name}.recorded.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded
}

/**
 * Returns the entry of a carrier file for a provider. The carrier has the name that appears in the recorded callbacks
 * of the provider.
 */
export function carrierOf(name: SignedProvider): object {
  const { secrets, baseUrl, currency, callbacks } = recordedOf(name)
  const signer: Signed = signers[name]
  return {
    ...{ name: carrierNameOf(callbacks[0]?.url ?? ''), type: 'http', provider: name },
    secrets: { ...secrets, ...signer.secrets },
    ...(baseUrl !== undefined && { baseUrl }),
    ...(currency !== undefined && { currency }),
  }
}

export const carrierNameOf = (url: string): string => new URL(url).pathname.split('/')[2] ?? ''

/** Returns the recorded callbacks of a provider, each signed at `now` and with the entries that it contains. */
export const callbacksOf = (name: SignedProvider, now: number) =>
  recordedOf(name).callbacks.map(({ title, read, body, ...rest }) => {
    const callback = { ...rest, body: typeof body === 'string' ? body : JSON.stringify(body) }
    return { title, read, callback: signers[name].sign(callback, now) }
  })
