import pg from 'pg'
import { until } from '@gateway/core/testing'
import { startHttpGateway, untilCode, type HttpGateway } from './support/http-gateway.ts'
import { killLeftovers } from './support/process.ts'

let gateway: HttpGateway
afterAll(killLeftovers)

const immediate = { receiptDelay: 20, retryDelay: 100 }

describe('the process callbacks', () => {
  beforeAll(async () => {
    gateway = await startHttpGateway('processes')
  }, 120_000)
  afterAll(() => gateway.stop(), 60_000)

  test('a message is delivered through a provider over HTTP, and its receipt and the reply to it are stored', async () => {
    const id = await gateway.send('27825550188')
    await untilCode(gateway, id, 0)
    await until(async () => (await gateway.replies()).includes('Yes, thank you'), 30_000)
    expect(gateway.provider.status()).toMatchObject({ messages: { accepted: 1 }, callbackAnswers: { 204: 2 } })
  }, 60_000)

  test('outcomes of the provider become those of the messages', async () => {
    const endings = { '90': 103, '93': 111, '96': 0, '97': 0 }
    const sent = await Promise.all(
      Object.entries(endings).map(async ([ending, code]) => [await gateway.send(`278255502${ending}`), code] as const),
    )
    for (const [id, code] of sent) await untilCode(gateway, id, code)
    // A page of a proxy in place of an answer never becomes an acceptance.
    const page = await gateway.send('27825550272')
    await untilCode(gateway, page, 106)
  }, 60_000)

  test('a callback with a wrong signature is answered 403, counted, and shown without numbers and texts', async () => {
    gateway.provider.become('bad-signatures', immediate)
    const id = await gateway.send('27825550301')
    await until(async () => (await gateway.counted('refused')) === 1, 30_000)
    expect(await gateway.codeOf(id)).toBe(100)
    const { refused } = (await (await fetch(`${gateway.callbacks().url}/health/callbacks`)).json()) as {
      readonly refused: readonly object[]
    }
    expect(refused).toMatchObject([{ carrier: 'main', reason: 'wrong-signature', method: 'POST' }])
    expect(JSON.stringify(refused)).not.toContain('27825550301')
    gateway.provider.become('default', immediate)
    // A forged receipt changes nothing, although it comes before the right one.
    const forged = await gateway.send('27825550375')
    await untilCode(gateway, forged, 0)
    expect(await gateway.counted('refused')).toBe(2)
  }, 60_000)

  test('a callback is answered 2xx only after the commit: after kill -9 before it, the receipt comes again', async () => {
    const before = gateway.provider.status().callbackAnswers
    const lock = await lockReceipts(gateway.database.connectionString)
    const id = await gateway.send('27825550401')
    await until(lock.someoneWaits, 30_000)
    await gateway.callbacks().stop('SIGKILL')
    await lock.release()
    await gateway.restartCallbacks()
    await untilCode(gateway, id, 0)
    await until(() => (gateway.provider.status().callbackAnswers['204'] ?? 0) === (before['204'] ?? 0) + 1, 30_000)
    expect(gateway.provider.status().callbackAnswers['none']).toBeGreaterThan(before['none'] ?? 0)
  }, 120_000)

  test('while the database is away, callbacks are answered 503, and their contents are stored when they are repeated', async () => {
    gateway.provider.become('default', { ...immediate, receiptDelay: 1500 })
    const id = await gateway.send('27825550501')
    await until(() => gateway.provider.journal().some((entry) => 'to' in entry && entry.to === '27825550501'), 30_000)
    // The dispatcher must have stored the outcome before the database goes away.
    await untilCode(gateway, id, 100)
    await gateway.database.crash()
    await until(() => (gateway.provider.status().callbackAnswers['503'] ?? 0) > 0, 30_000)
    await gateway.database.start()
    await untilCode(gateway, id, 0)
    gateway.provider.become('default', immediate)
  }, 120_000)

  test('a body over 256 kB is answered 413', async () => {
    const url = `${gateway.callbacks().url}/carriers/main/callback`
    const call = async (body: string): Promise<number> => {
      const answer = await fetch(url, { method: 'POST', body })
      await answer.text()
      return answer.status
    }
    expect(await call('x'.repeat(262_145))).toBe(413)
    expect(await call('x'.repeat(262_144))).toBe(403)
  })
})

describe('the all-in-one', () => {
  beforeAll(async () => {
    gateway = await startHttpGateway('all-in-one')
  }, 120_000)
  afterAll(() => gateway.stop(), 60_000)

  test('receives receipts and replies, and refuses unsigned callbacks', async () => {
    const id = await gateway.send('27825550188')
    await untilCode(gateway, id, 0)
    await until(async () => (await gateway.replies()).includes('Yes, thank you'), 30_000)
    const url = `${gateway.callbacks().url}/carriers/main/callback`
    expect((await fetch(url, { method: 'POST', body: 'MessageSid=SM1&MessageStatus=failed' })).status).toBe(403)
    expect([await gateway.counted('stored'), await gateway.counted('refused')]).toEqual([2, 1])
    const shown = (await (await fetch(`${gateway.callbacks().url}/health/callbacks`)).json()) as object
    expect(shown).toMatchObject({ refused: [{ reason: 'no-signature' }] })
  }, 60_000)
})

/** Locks the messages that receipts change, until it is released. */
async function lockReceipts(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('begin')
  await client.query('lock table message in share mode')
  const waiting = `select 1 from pg_locks where relation = 'message'::regclass and not granted`
  return {
    someoneWaits: async () => ((await client.query(waiting)).rowCount ?? 0) > 0,
    release: () => client.end(),
  }
}
