import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { accountAt, type ProviderAccount } from '../account.ts'
import { isUsable, readDescription } from '../description/read-description.ts'
import type { SignatureDescription } from '../description/schema.ts'
import { shippedProvider, type ProviderName } from '../providers.ts'
import type { CallbackRequest } from './callback-request.ts'
import { verifyCallback } from './verify-callback.ts'

interface Vector {
  readonly provider: ProviderName
  readonly package: string
  readonly secrets: Readonly<Record<string, string>>
  readonly callback: Omit<CallbackRequest, 'body'> & { readonly body: string }
}

const { now, signatures } = JSON.parse(
  readFileSync(new URL('../../testing/signatures.json', import.meta.url), 'utf8'),
) as { readonly now: number; readonly signatures: readonly Vector[] }

const listed = (secrets: Readonly<Record<string, string>>): ProviderAccount['secrets'] =>
  Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, [value]]))

const requestOf = (callback: Vector['callback']): CallbackRequest => ({ ...callback, body: Buffer.from(callback.body) })

const titled = signatures.map((vector) => [`${vector.package}, ${vector.callback.url}`, vector] as const)

describe.each(titled)('a callback signed with %s', (_, { provider, secrets, callback }) => {
  const account = accountAt(shippedProvider(provider), { secrets: listed(secrets) })
  const request = requestOf(callback)

  test('is verified', async () => {
    expect(await verifyCallback(account, request, now)).toBe('verified')
  })

  test('is not verified with another body', async () => {
    const changed = { ...request, body: Buffer.from(`${callback.body}&x=1`) }
    expect(await verifyCallback(account, changed, now)).toBe('wrong-signature')
  })

  test('is not verified with another secret', async () => {
    const others = Object.fromEntries(Object.keys(secrets).map((name) => [name, ['b3RoZXI=']]))
    expect(await verifyCallback({ ...account, secrets: others }, request, now)).toBe('wrong-signature')
  })

  test('is verified with the second secret of a rotation', async () => {
    const two = Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, ['b3RoZXI=', value]]))
    expect(await verifyCallback({ ...account, secrets: two }, request, now)).toBe('verified')
  })

  test('is not verified without its signature', async () => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !/signature(-jwt|-v3|-ed25519)?$/.test(name)),
    )
    expect(await verifyCallback(account, { ...request, headers }, now)).toBe('no-signature')
  })
})

const signedUrls: readonly ProviderName[] = ['twilio', 'plivo', 'messagebird']

test.each(titled.filter(([, { provider }]) => signedUrls.includes(provider)))(
  'a callback signed with %s is not verified at another URL',
  async (_, { provider, secrets, callback }) => {
    const account = accountAt(shippedProvider(provider), { secrets: listed(secrets) })
    const url = callback.url.replace('gw.example', 'other.example')
    expect(await verifyCallback(account, requestOf({ ...callback, url }), now)).toBe('wrong-signature')
  },
)

const ages: readonly (readonly [provider: ProviderName, seconds: number, outcome: string])[] = [
  ['telnyx', 3600, 'verified'],
  ['telnyx', 3601, 'too-old'],
  ['telnyx', -300, 'verified'],
  ['telnyx', -301, 'too-old'],
  ['sinch', 163_840, 'verified'], // the last retry that Sinch makes
  ['sinch', 172_801, 'too-old'],
  ['gateway', 301, 'too-old'],
]

test.each(ages)('a signature of %s that is %i s old is %s', async (provider, seconds, outcome) => {
  const vector = signatures.find((each) => each.provider === provider)
  if (vector === undefined) throw new Error('no vector')
  const account = accountAt(shippedProvider(provider), { secrets: listed(vector.secrets) })
  expect(await verifyCallback(account, requestOf(vector.callback), now + seconds * 1000)).toBe(outcome)
})

const body = 'b=2&a=1'
const path = '0123456789abcdef0123456789abcdef'

function anAccount(signature: SignatureDescription, secrets: ProviderAccount['secrets']): ProviderAccount {
  const provider = readDescription({
    send: { url: '/send' },
    answer: { id: '/id', rules: [{ is: 'accepted' }] },
    callbacks: { signature },
  })
  if (!isUsable(provider)) throw new Error(provider.problems.join('\n'))
  return accountAt(provider, { secrets })
}

const aRequest = (headers: Readonly<Record<string, string>>, last = 'callback', query = ''): CallbackRequest => ({
  method: 'POST',
  url: `https://gw.example/carriers/x/${last}${query}`,
  headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  body: Buffer.from(body),
})

const withKey: SignatureDescription = {
  algorithm: 'md5+key',
  key: '{secret.key}',
  over: ['params'],
  encoding: 'hex',
  at: 'field:sig',
}
const sha512: SignatureDescription = {
  algorithm: 'hmac-sha512',
  key: '{secret.key}',
  over: ['body'],
  encoding: 'hex',
  at: 'header:x-sig',
}
const basic: SignatureDescription = { algorithm: 'basic', key: ['{secret.user}', '{secret.password}'] }
const credentials = { user: ['cb'], password: ['cbpass'] }
const authorization = `Basic ${Buffer.from('cb:cbpass').toString('base64')}`

test('a hash over sorted fields and a key is verified, without the signature among the fields', async () => {
  const sig = createHash('md5').update('&a=1&b=2secret').digest('hex')
  const account = anAccount(withKey, { key: ['secret'] })
  expect(await verifyCallback(account, aRequest({}, 'callback', `?sig=${sig.toUpperCase()}`), now)).toBe('verified')
  expect(await verifyCallback(account, aRequest({}, 'callback', `?sig=${sig}&c=3`), now)).toBe('wrong-signature')
})

test('a signature over the body covers its bytes, also where they are not UTF-8', async () => {
  const bytes = Buffer.from([0x61, 0xff, 0xfe])
  const signature = createHmac('sha512', 'secret').update(bytes).digest('hex')
  const account = anAccount(sha512, { key: ['secret'] })
  const request = { ...aRequest({ 'x-sig': signature }), body: bytes }
  expect(await verifyCallback(account, request, now)).toBe('verified')
  expect(await verifyCallback(account, { ...request, body: Buffer.from([0x61, 0xfe, 0xff]) }, now)).toBe(
    'wrong-signature',
  )
})

type Case = readonly [string, SignatureDescription, ProviderAccount['secrets'], CallbackRequest, string]

test.each<Case>([
  ['basic authentication', basic, credentials, aRequest({ authorization }), 'verified'],
  ['a wrong password', basic, credentials, aRequest({ authorization: `${authorization}x` }), 'wrong-signature'],
  ['no password', basic, credentials, aRequest({}), 'no-signature'],
  ['the secret path', { algorithm: 'path' }, { path: [path] }, aRequest({}, path), 'verified'],
  ['another path', { algorithm: 'path' }, { path: [path] }, aRequest({}, `${path}0`), 'wrong-path'],
  ['the old path during a rotation', { algorithm: 'path' }, { path: ['f'.repeat(32), path] }, aRequest({}, path), 'verified'],
  ['a path that is too short to be secret', { algorithm: 'path' }, { path: ['abc'] }, aRequest({}, 'abc'), 'wrong-path'],
  ['a signature and a path: the right path alone', basic, { ...credentials, path: [path] }, aRequest({}, path), 'no-signature'],
  ['a signature and a path: the right signature alone', basic, { ...credentials, path: [path] }, aRequest({ authorization }), 'wrong-path'],
  ['a path in place of a signature whose secret the operator does not have', basic, { path: [path] }, aRequest({}, path), 'verified'],
  ['neither a path nor a secret', basic, { user: ['cb'] }, aRequest({ authorization }), 'no-secret'],
])('%s: verified as %s', async (_, signature, secrets, request, outcome) => {
  expect(await verifyCallback(anAccount(signature, secrets), request, now)).toBe(outcome)
}) // prettier-ignore

test('a description without callbacks verifies nothing', async () => {
  const provider = readDescription({ send: { url: '/send' }, answer: { id: '/id', rules: [{ is: 'accepted' }] } })
  if (!isUsable(provider)) throw new Error(provider.problems.join('\n'))
  expect(await verifyCallback(accountAt(provider, { secrets: { path: [path] } }), aRequest({}, path), now)).toBe('no-callbacks')
}) // prettier-ignore
