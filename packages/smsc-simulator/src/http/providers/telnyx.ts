import { createHash, createPrivateKey, createPublicKey, randomUUID, sign, type KeyObject } from 'node:crypto'
import { digitsOf, headerCredentials, jsonAnswer, jsonCallback, jsonOf, messageOf } from './provider.ts'
import { secretOf, withHeaders, type ProviderFormat, type ProviderRefusal } from './provider.ts'

/** Status, code and title of each refusal (Telnyx: Error codes). */
const errors = {
  'invalid-number': [422, '10002', 'Invalid phone number'],
  'opted-out': [400, '40300', 'Blocked due to STOP message'],
  throttled: [429, '10011', 'Too many requests'],
  'no-credit': [402, '10039', 'Insufficient funds'],
  unauthorized: [401, '10009', 'Authentication failed'],
  malformed: [422, '10004', 'Missing required parameter'],
} as const satisfies Record<ProviderRefusal, readonly [number, string, string]>

const states = {
  delivered: 'delivered',
  undelivered: 'delivery_failed',
  expired: 'delivery_failed',
  rejected: 'sending_failed',
} as const

/** ASN.1 prefix of an Ed25519 private key in PKCS #8 (RFC 8410). */
const privateKeyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the private key that belongs to a secret text. */
function keyOf(seed: string): KeyObject {
  const bytes = createHash('sha256').update(seed).digest()
  return createPrivateKey({ key: Buffer.concat([privateKeyPrefix, bytes]), format: 'der', type: 'pkcs8' })
}

/** Returns the public key that belongs to the secret `seed`, as Telnyx shows it: 32 bytes in base64. */
export const telnyxPublicKey = (seed: string): string =>
  createPublicKey(keyOf(seed)).export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')

const eventOf = (type: string, payload: object): object => ({
  data: { record_type: 'event', id: randomUUID(), event_type: type, payload },
})

export const telnyx: ProviderFormat = {
  secrets: { seed: 'gateway-http-provider' },
  serves: ({ method, path }) => method === 'POST' && path === '/v2/messages',
  credentials: (request) => headerCredentials(request, 'authorization', 'Bearer', 'key'),
  read: (request) => {
    const { to, from, text, webhook_url: callback } = jsonOf(request)
    return messageOf({ to, from, text, callback })
  },
  accepted: ({ id, to, from, text }) =>
    jsonAnswer(200, {
      data: {
        ...{ record_type: 'message', direction: 'outbound', id, type: 'SMS', text },
        ...{ from: { phone_number: from }, to: [{ phone_number: `+${to}`, status: 'queued' }] },
      },
    }),
  refused: (refusal) => {
    const [status, code, title] = errors[refusal]
    return jsonAnswer(status, { errors: [{ code, title }] })
  },
  receipt: ({ id, to, from }, state, url) =>
    jsonCallback(
      url,
      eventOf('message.finalized', {
        ...{ record_type: 'message', direction: 'outbound', id, from: { phone_number: from } },
        to: [{ phone_number: `+${to}`, status: states[state] }],
        errors: state === 'delivered' ? [] : [{ code: '40001', title: 'Not routable' }],
      }),
    ),
  reply: ({ id, from, to, text }, url) =>
    jsonCallback(
      url,
      eventOf('message.received', {
        ...{ record_type: 'message', direction: 'inbound', id, text },
        ...{ from: { phone_number: `+${from}` }, to: [{ phone_number: `+${digitsOf(to)}` }] },
      }),
    ),
  sign: (callback, secrets, now) => {
    const seconds = String(Math.floor(now / 1000))
    const signature = sign(null, Buffer.from(`${seconds}|${callback.body}`), keyOf(secretOf(secrets, 'seed')))
    return withHeaders(callback, {
      ...{ 'telnyx-timestamp': seconds, 'telnyx-signature-ed25519': signature.toString('base64') },
    })
  },
}
