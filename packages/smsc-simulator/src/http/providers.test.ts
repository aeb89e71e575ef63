import { readFileSync } from 'node:fs'
import { bodyOf } from '@gateway/core/messages'
import {
  accountAt,
  buildRequest,
  callbackUrl,
  providerNames,
  readAnswer,
  readCallback,
  shippedProvider,
  verifyCallback,
  type AnswerMeaning,
  type ProviderName,
} from '@gateway/adapters-http'
import { callbackReceiver, type CallbackReceiver } from '../../testing/callback-receiver.ts'
import { httpProviders } from './providers/index.ts'
import type { HttpProviderServer, HttpProviderSettings } from './settings.ts'
import { startHttpProvider } from './start-http-provider.ts'

// The requests, readers and verifiers are those of the gateway, which are tested with the providers' own packages. The
// simulated providers share no code with them.

const path = '0123456789abcdef0123456789abcdef'

/** Secrets of each provider's account, by their names in the gateway. */
const secretsOf: Readonly<Record<ProviderName, Readonly<Record<string, string>>>> = {
  twilio: { sid: 'AC0123', token: 'tok' },
  vonage: { key: 'abcd', secret: 's3cret', path },
  infobip: { key: 'KEY', callbackUser: 'cb', callbackPassword: 'cbpass' },
  plivo: { id: 'MAXX', token: 'ptok' },
  telnyx: { key: 'KEY', publicKey: '' },
  sinch: { plan: 'plan1', token: 'TOK', signing: 'sinch-secret' },
  africastalking: { username: 'user', key: 'KEY', path },
  messagebird: { key: 'KEY', signing: 'mb-secret' },
  bulksms: { id: 'ID', token: 'TOK', path },
  '46elks': { user: 'u', password: 'p', callbackUser: 'cb', callbackPassword: 'cbpass' },
  textbee: { key: 'KEY', device: 'dev1', signing: 'tb-secret' },
  smsgate: { user: 'u', password: 'p', signing: 'sg-secret' },
  gateway: { key: 'KEY', signing: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
}

let receiver: CallbackReceiver
let server: HttpProviderServer | undefined
beforeEach(async () => {
  receiver = await callbackReceiver()
})
afterEach(async () => {
  receiver.close()
  await server?.close()
  server = undefined
})

/** Starts a simulated provider, and returns the gateway's side of it. */
async function open(provider: ProviderName, further: Partial<HttpProviderSettings> = {}) {
  const secrets = secretsOf[provider]
  const { callbackUser: user = '', callbackPassword: password = '' } = secrets
  const consoleUrl = new URL(receiver.url.replace(/[^/]+$/, secrets['path'] ?? 'callback'))
  if (user !== '') Object.assign(consoleUrl, { username: user, password })
  const { path: _, callbackUser: __, callbackPassword: ___, publicKey: ____, ...configured } = secrets
  const running = await startHttpProvider({
    ...{ provider, secrets: configured, callbackUrl: consoleUrl.href },
    changes: { receiptDelay: 0, replayDelay: 0, slowDelay: 50 },
    ...further,
  })
  server = running
  const { publicKey } = running.status()
  const all = { ...secrets, ...(publicKey !== undefined && { publicKey }) }
  const account = accountAt(shippedProvider(provider), {
    secrets: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
    baseUrl: running.url,
    from: '15005550006',
    currency: 'EUR',
  })
  const callback = callbackUrl(account, 'main', new URL(receiver.url).origin)
  const send = async (to: string, ownId = '77-abc234', text = 'Grüße & co'): Promise<AnswerMeaning> => {
    const body = bodyOf(text)
    if (typeof body === 'string') throw new Error(body)
    const { url, body: sent, ...request } = buildRequest(account, { to, from: undefined, body, ownId, callback })
    const answer = await fetch(url, { ...request, body: sent ?? null })
    const headers = Object.fromEntries(answer.headers)
    return readAnswer(account, { status: answer.status, headers, body: await answer.text() }, ownId, Date.now())
  }
  const results = () =>
    Promise.all(
      receiver.received.map(async (each) => {
        const verified = await verifyCallback(account, each, Date.now())
        return verified === 'verified' ? readCallback(account, each) : verified
      }),
    )
  return { running, send, results }
}

const referenceOf = (meaning: AnswerMeaning): string | undefined =>
  meaning.outcome === 'accepted' ? meaning.reference : undefined

test('every shipped provider is simulated', () => {
  expect(Object.keys(httpProviders).sort()).toEqual([...providerNames].sort())
})

test.each([
  ['in the GSM alphabet', `€${'a'.repeat(159)}`, 2],
  ['that just fits', 'a'.repeat(160), 1],
  ['in UCS-2', 'ж'.repeat(141), 3],
])('Vonage has an id and a receipt for each part of a text %s', async (_, text, count) => {
  const { send, results } = await open('vonage')
  const meaning = await send('27825550101', undefined, text)
  const further = meaning.outcome === 'accepted' ? meaning.furtherReferences : []
  expect(further).toHaveLength(count - 1)
  await receiver.count(count)
  const read = await results()
  const receipts = read.flatMap((result) => (typeof result === 'string' ? [] : result.receipts))
  expect(receipts.map(({ reference }) => reference)).toEqual([referenceOf(meaning), ...further])
})

describe.each(providerNames)('%s', (provider) => {
  test('accepts a message, and its receipt verifies and names the message', async () => {
    const { send, results } = await open(provider)
    const meaning = await send('27825550101')
    expect(meaning).toMatchObject({ outcome: 'accepted' })
    await receiver.count(1)
    expect(await results()).toMatchObject([{ receipts: [{ reference: referenceOf(meaning), code: 0 }], unread: [] }])
  })

  test('reports failures with a code other than delivered', async () => {
    const { send, results } = await open(provider)
    for (const [nth, ending] of ['90', '91', '92'].entries()) {
      await send(`278255501${ending}`, `${nth + 1}-abc234`)
      await receiver.count(nth + 1)
    }
    for (const result of await results()) {
      if (typeof result === 'string') throw new Error(result)
      expect(result.receipts.map(({ code }) => code)).not.toContain(0)
      expect([result.receipts.length, result.unread]).toEqual([1, []])
    }
  })

  test('sends a reply that verifies, with the number and the text', async () => {
    const { send, results } = await open(provider)
    await send('27825550188')
    await receiver.count(2)
    expect((await results())[1]).toMatchObject({
      messages: [{ from: '27825550188', text: 'Yes, thank you' }],
      unread: [],
    })
  })

  test('sends a forged receipt that does not verify, and then the right one', async () => {
    const { send, results } = await open(provider)
    receiver.answerNext(403)
    await send('27825550175')
    await receiver.count(2)
    const [first, second] = await results()
    expect(typeof first).toBe('string')
    expect(second).toMatchObject({ receipts: [{ code: 0 }] })
  })

  test('refuses an invalid number, an account without credit and too many messages, each in its own way', async () => {
    const { send } = await open(provider)
    // 46elks answers 400 with a text, which says nothing certain about the message.
    const refused = provider === '46elks' ? 'delayed' : 'refused'
    expect(await send('27825550193', '1-abc234')).toMatchObject({ outcome: refused })
    expect(await send('27825550183', '2-abc234')).toMatchObject({ outcome: 'broken' })
    const tries = [await send('27825550196'), await send('27825550196'), await send('27825550196')]
    expect(tries.map(({ outcome }) => outcome)).toEqual(['throttled', 'throttled', 'accepted'])
    expect(await send('27825550172', '3-abc234')).toMatchObject({ outcome: 'unknown' })
  })

  test('refuses other credentials than those configured', async () => {
    const { send } = await open(provider, {
      secrets: Object.fromEntries(Object.keys(secretsOf[provider]).map((name) => [name, 'another'])),
    })
    expect(await send('27825550101')).toMatchObject({ outcome: 'broken' })
  })
})

test.each(['bulksms', 'smsgate', 'gateway'] as const)('%s recognizes a repetition', async (provider) => {
  const { running, send } = await open(provider)
  const first = await send('27825550101', '7-abc234')
  expect(await send('27825550101', '7-abc234')).toEqual(first)
  expect(running.status().messages).toEqual({ accepted: 1, repeated: 1 })
})

interface Vector {
  readonly provider: ProviderName
  readonly secrets: Readonly<Record<string, string>>
  readonly callback: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }
}

const { signatures } = JSON.parse(
  readFileSync(new URL('../../../adapters-http/testing/signatures.json', import.meta.url), 'utf8'),
) as { readonly signatures: readonly Vector[] }

test('a callback of twilio gets the signature that the package of twilio makes', () => {
  const vector = signatures.find(({ provider }) => provider === 'twilio')
  if (vector === undefined) throw new Error('there is no signature of twilio')
  const { callback, secrets } = vector
  const { 'x-twilio-signature': expected = '', ...headers } = callback.headers
  const signed = httpProviders.twilio.sign?.({ ...callback, method: 'POST', headers }, secrets, 0)
  expect(signed?.headers['x-twilio-signature']).toBe(expected)
})
