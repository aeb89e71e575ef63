import { ownIdTextOf } from '@gateway/adapters-http'
import { createBackOffice, createProcessing, type Ports } from '@gateway/core'
import { aCarrierId, anAccount, aNumber, anOrder, memoryPorts, steppingClock, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { startCallbacks, storeFile, type CallbacksOptions } from '../testing/start-callbacks.ts'
import {
  callbacksOf,
  carrierNameOf,
  carrierOf,
  signedProviders,
  type SentCallback,
  type SignedProvider,
} from '../testing/recorded-callbacks.ts'
import { RefusedCallbacks, type CallbackStore } from './index.ts'

const now = steppingClock().now()

/** Returns a recorded callback of Twilio, signed. */
const twilioCallback = (title: string): SentCallback => callbackOf('twilio', title)

function callbackOf(provider: SignedProvider, title: string): SentCallback {
  const found = callbacksOf(provider, now).find((each) => each.title === title)
  if (found === undefined) throw new Error(`no callback "${title}" of ${provider}`)
  return found.callback
}

/** Passes calls on and records them once they have resolved. */
function recording() {
  const stored = { receipts: [] as unknown[], messages: [] as unknown[], unread: [] as unknown[] }
  const store = (to: CallbackStore): CallbackStore => ({
    acceptReceipts: async (carrier, receipts) => {
      const unknown = await to.acceptReceipts(carrier, receipts)
      stored.receipts.push(...receipts)
      return unknown
    },
    acceptInboundMessages: async (carrier, messages) => {
      const received = await to.acceptInboundMessages(carrier, messages)
      stored.messages.push(...messages)
      return received
    },
    acceptUnread: async (carrier, unread) => {
      await to.acceptUnread(carrier, unread)
      stored.unread.push(...unread)
    },
  })
  return { stored, store }
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

const unreadOf = (ports: Ports) => collected(createBackOffice(ports).queries.listUnreadReceipts(undefined))
const repliesOf = (ports: Ports) => collected(createBackOffice(ports).queries.listUnownedMessages())

const startTwilio = (options: CallbacksOptions = {}) => startCallbacks([carrierOf('twilio')], options)

describe.each(signedProviders)('callbacks of %s', (provider) => {
  test.each(callbacksOf(provider, now).map((each) => [each.title, each] as const))(
    '%s: stored and answered 2xx',
    async (_, { callback, read }) => {
      const { stored, store } = recording()
      const { send, counted, stop } = await startCallbacks([carrierOf(provider)], { store })
      const answer = await send(callback)
      expect([answer.status, answer.text]).toEqual(provider === 'twilio' ? [204, ''] : [200, ''])
      expect(stored).toMatchObject({
        receipts: read.receipts.map(({ reference, code }) => ({ reference, code })),
        messages: read.messages.map(({ from, text }) => ({ from, text })),
        unread: read.unread.map(({ reference }) => ({ reference })),
      })
      expect(await counted(carrierNameOf(callback.url), 'stored')).toBe(1)
      await stop()
    },
  )

  test('a callback that is not signed is refused, and its content is not read', async () => {
    const { stored, store } = recording()
    const { send, counted, stop } = await startCallbacks([carrierOf(provider)], { store })
    for (const { callback } of callbacksOf(provider, now)) {
      const { 'content-type': contentType = 'text/plain' } = callback.headers
      const url = callback.url.replace(/[^/?]+(?=\?|$)/, 'callback')
      expect((await send({ ...callback, url, headers: { 'content-type': contentType } })).status).toBe(403)
    }
    expect(stored).toEqual({ receipts: [], messages: [], unread: [] })
    const all = callbacksOf(provider, now)
    expect(await counted(carrierNameOf(all[0]?.callback.url ?? ''), 'refused')).toBe(all.length)
    await stop()
  })
})

test('a changed body, a changed query and another public URL are refused', async () => {
  const { send, stop } = await startTwilio()
  const callback = twilioCallback('delivered')
  expect((await send({ ...callback, body: callback.body.replace('SM1', 'SM2') })).status).toBe(403)
  expect((await send({ ...callback, url: `${callback.url}?a=1` })).status).toBe(403)
  expect((await send(callback)).status).toBe(204)
  await stop()
  const elsewhere = await startTwilio({ publicUrl: 'https://other.example' })
  expect((await elsewhere.send(callback)).status).toBe(403)
  await elsewhere.stop()
})

test('the log has one line a minute about refused callbacks, without numbers, texts and secrets', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const { send, stop } = await startTwilio({ log })
  const callback = { ...twilioCallback('a reply'), headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  for (let i = 0; i < 5; i++) await send(callback)
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ carrier: 'twilio', reason: 'no-signature', method: 'POST', bytes: callback.body.length },
    msg: 'callback refused: check PUBLIC_URL and the secrets of the carrier',
  })
  expect(lines[0]).not.toMatch(/27825550101|Yes|SM9|tok-secret/)
  await stop()
})

test('the latest 20 refused callbacks of each carrier are kept, without numbers, texts and secrets', async () => {
  const refused = new RefusedCallbacks()
  const { send, stop } = await startCallbacks([carrierOf('twilio'), carrierOf('africastalking')], { refused })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  await send({
    ...callbackOf('africastalking', 'a reply'),
    url: 'https://gw.example/carriers/at/guessed-path?a=secret',
  })
  for (let i = 0; i < 21; i++) await send({ ...twilioCallback('a reply'), headers })
  const sample = refused.list()
  expect(sample.map(({ carrier, reason }) => `${carrier} ${reason}`).sort()).toEqual([
    'at wrong-path',
    ...Array.from({ length: 20 }, () => 'twilio no-signature'),
  ])
  expect(Object.keys(sample[0] ?? {})).toEqual(['at', 'carrier', 'reason', 'method', 'mediaType', 'bytes', 'from'])
  expect(JSON.stringify(sample)).not.toMatch(/27825550101|Yes|SM9|tok-secret|guessed|a=secret/)
  await stop()
})

test('during a rotation each of two secrets counts', async () => {
  const carrier = carrierOf('twilio') as { readonly secrets: object }
  const secrets = { ...carrier.secrets, token: ['new', 'tok-secret'] }
  const { send, stop } = await startCallbacks([{ ...carrier, secrets }])
  expect((await send(twilioCallback('delivered'))).status).toBe(204)
  await stop()
})

test('an answer waits for the commit', async () => {
  let commit = (): void => undefined
  const committed = new Promise<void>((resolve) => (commit = resolve))
  const order: string[] = []
  const store = (to: CallbackStore): CallbackStore => ({
    ...to,
    acceptReceipts: async (carrier, receipts) => {
      await committed
      const unknown = await to.acceptReceipts(carrier, receipts)
      order.push('committed')
      return unknown
    },
  })
  const { send, stop } = await startTwilio({ store, answerMilliseconds: 60_000 })
  const answered = send(twilioCallback('delivered')).then(({ status }) => order.push(String(status)))
  const other = await send(twilioCallback('a reply'))
  expect([other.status, order]).toEqual([204, []])
  commit()
  await answered
  expect(order).toEqual(['committed', '204'])
  await stop()
})

test('a callback that is not stored in time is answered 503', async () => {
  let commit = (): void => undefined
  const committed = new Promise<void>((resolve) => (commit = resolve))
  const store = (to: CallbackStore): CallbackStore => ({
    ...to,
    acceptReceipts: async (carrier, receipts) => {
      await committed
      return to.acceptReceipts(carrier, receipts)
    },
  })
  const { send, counted, stop } = await startTwilio({ store, answerMilliseconds: 20 })
  const answer = await send(twilioCallback('delivered'))
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
  expect(await counted('twilio', 'unavailable')).toBe(1)
  commit()
  await stop()
})

test.each(['delivered', 'a reply', 'a state that the description does not have'])(
  '%s: a failed commit is answered 503',
  async (title) => {
    const fails = () => Promise.reject(new Error('the database is away'))
    const store = () => ({ acceptReceipts: fails, acceptInboundMessages: fails, acceptUnread: fails })
    const { send, counted, stop } = await startTwilio({ store })
    expect((await send(twilioCallback(title))).status).toBe(503)
    expect(await counted('twilio', 'unavailable')).toBe(1)
    await stop()
  },
)

test('a receipt of an unknown message, an unknown state and an unreadable body are kept', async () => {
  const { ports, send, stop } = await startCallbacks([carrierOf('twilio'), carrierOf('infobip')])
  expect((await send(twilioCallback('delivered'))).status).toBe(204)
  expect((await send(twilioCallback('a state that the description does not have'))).status).toBe(204)
  const unreadable = { ...callbackOf('infobip', 'a reply'), body: '{"results":' }
  expect((await send(unreadable)).status).toBe(200)
  expect((await unreadOf(ports)).map(({ carrier, reference, text }) => [carrier, reference, text])).toEqual([
    ['twilio', 'SM1', '{"MessageSid":"SM1","MessageStatus":"pondering"}'],
    ['infobip', undefined, '{"results":'],
  ])
  await stop()
})

test('a receipt with our own id resolves a message whose outcome is unknown, also if it is sent twice', async () => {
  const carrier = carrierOf('vonage')
  const { ports, send, stop } = await startCallbacks([carrier])
  const { id } = await anAccount(ports)
  await ports.messages.accept(anOrder(id, { to: [aNumber('27825550101')] }))
  const dispatcher = await ports.claimedBatches.register(600)
  const batch = await ports.claimedBatches.claim(dispatcher, {
    ...{ carrier: aCarrierId('vonage'), lane: 'single', messagesMax: 1, markedMax: 1, leaseSeconds: 600 },
  })
  if (typeof batch === 'string') throw new Error(batch)
  const [message] = batch.messages
  if (message === undefined) throw new Error('the claimed batch has no messages')
  await ports.claimedBatches.record(dispatcher, [{ batch: batch.id, message, handover: { outcome: 'unknown' } }])
  const callback = callbackOf('vonage', 'delivered, as a form')
  const resolving = { ...callback, body: callback.body.replace('77-abc234', ownIdTextOf(message)) }
  expect([await send(resolving), await send(resolving)].map(({ status }) => status)).toEqual([200, 200])
  await createProcessing(ports).matchReceipts()
  expect(await ports.messages.status(id, [message.id], message.due)).toMatchObject([{ code: 0 }])
  await stop()
})

test('a reply that is sent twice is stored once', async () => {
  const { ports, send, stop } = await startTwilio()
  const statuses = [await send(twilioCallback('a reply')), await send(twilioCallback('a reply'))]
  expect(statuses.map(({ status }) => status)).toEqual([204, 204])
  expect((await repliesOf(ports)).map(({ from, text }) => [from, text])).toEqual([['27825550101', 'Yes & no']])
  await stop()
})

test('a reply in parts is stored as one text', async () => {
  const { ports, send, stop } = await startCallbacks([carrierOf('vonage')])
  const second = callbackOf('vonage', 'the second part of a long reply')
  const first = second.body.replace('and no', 'yes ').replace('"concat-part":"2"', '"concat-part":"1"')
  await send(second)
  expect(await repliesOf(ports)).toEqual([])
  await send({ ...second, body: first.replace('0B2', '0B1') })
  expect((await repliesOf(ports)).map(({ text }) => text)).toEqual(['yes and no'])
  await stop()
})

test('a body of 256 kB is read, and a larger one is answered 413', async () => {
  const { send, counted, stop } = await startCallbacks([carrierOf('infobip')])
  const callback = callbackOf('infobip', 'a reply')
  expect((await send({ ...callback, body: callback.body.padEnd(262_144) })).status).toBe(200)
  expect((await send({ ...callback, body: callback.body.padEnd(262_145) })).status).toBe(413)
  expect(await counted('infobip', 'too-large')).toBe(1)
  await stop()
})

test('callbacks of a carrier beyond the limit of a network are answered 503', async () => {
  const { send, counted, stop } = await startCallbacks([carrierOf('twilio'), carrierOf('infobip')], {
    perSecondMax: 1,
  })
  const statuses = [await send(twilioCallback('delivered')), await send(twilioCallback('delivered'))]
  expect(statuses.map(({ status }) => status)).toEqual([204, 503])
  expect((await send(callbackOf('infobip', 'a reply'))).status).toBe(200)
  expect(await counted('twilio', 'limited')).toBe(1)
  await stop()
})

test('a callback from an address outside of the networks of a carrier is refused', async () => {
  const carrier = carrierOf('africastalking')
  const inside = await startCallbacks([{ ...carrier, callbackNetworks: ['192.0.2.7', '127.0.0.0/8'] }])
  expect((await inside.send(callbackOf('africastalking', 'delivered'))).status).toBe(200)
  await inside.stop()
  const outside = await startCallbacks([{ ...carrier, callbackNetworks: ['192.0.2.0/24'] }])
  expect((await outside.send(callbackOf('africastalking', 'delivered'))).status).toBe(403)
  expect(await outside.counted('at', 'refused')).toBe(1)
  await outside.stop()
})

test('other paths, methods and carriers are answered 404', async () => {
  const smpp = { name: 'smpp', url: 'smpp://me:secret@smsc.example' }
  const { send, counted, stop } = await startCallbacks([smpp, carrierOf('twilio')])
  const callback = twilioCallback('delivered')
  for (const path of ['/carriers/none/callback', '/carriers/smpp/callback', '/carriers/twilio', '/twilio/callback']) {
    expect((await send({ ...callback, url: `https://gw.example${path}` })).status).toBe(404)
  }
  expect((await send({ ...callback, url: 'https://gw.example/carriers/%zz/callback' })).status).toBe(400)
  expect(await counted('smpp', 'refused')).toBeUndefined()
  expect(await counted('twilio', 'refused')).toBe(0)
  await stop()
})

test('a change of the stored carriers is followed', async () => {
  const { ports, followed, send, stop } = await startTwilio()
  await storeFile(ports, [carrierOf('infobip')], 'https://gw.example')
  await until(() => followed.find('infobip') !== undefined)
  expect((await send(callbackOf('infobip', 'a reply'))).status).toBe(200)
  expect((await send(twilioCallback('delivered'))).status).toBe(404)
  await stop()
})

test('while the stored carriers cannot be read, callbacks are answered 503', async () => {
  const ports = memoryPorts({ clock: steppingClock() })
  await storeFile(ports, [carrierOf('twilio')], 'https://gw.example')
  const open = (): string => {
    throw new Error('the key is another one')
  }
  const { send, stop } = await startCallbacks([], { ports: { ...ports, secretBox: { ...ports.secretBox, open } } })
  expect((await send(twilioCallback('delivered'))).status).toBe(503)
  await stop()
})
