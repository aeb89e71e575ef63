import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { testChance, until } from '@gateway/core/testing'
import { measure, openAccount } from './support/accounts.ts'
import { rest, restBalance, restSend, type Client } from './support/clients.ts'
import { startDatabase } from './support/database.ts'
import { operate } from './support/operate.ts'
import { dataFolder, killLeftovers, startApp } from './support/process.ts'
import { submissions } from './support/record.ts'

afterEach(killLeftovers)

const requests = 400
const perSend = 3
const granted = 10_000
const sockets = 'nodejs_active_resources{type="TCPSocketWrap"}'

const withBody = (path: string, type: string, headers: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Writes a part of a request and hangs up after this many milliseconds, with or without a reset. */
function hangUp(port: number, text: string, { afterMs, resets }: { afterMs: number; resets: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.on('connect', () => {
      socket.write(text)
      setTimeout(() => (resets ? socket.resetAndDestroy() : socket.destroy()), afterMs)
    })
  })
}

test('requests whose clients disconnect at any point are done completely or not at all, and leave nothing behind in the process', async () => {
  const data = await dataFolder()
  const database = await startDatabase(`${data.path}/db`)
  try {
    const environment = {
      DATABASE_URL: database.connectionString,
      DATA_DIR: data.path,
      CARRIERS: 'simulator:?delayMs=10',
    }
    const gateway = await startApp('all-in-one', environment)
    const holder = await openAccount(environment, 'holder', granted)
    const sub = await openAccount(environment, 'sub', 0, '--parent', String(holder.id))
    const client: Client = { url: gateway.url, key: holder.key }
    const port = Number(new URL(gateway.url).port)
    const recipients = Array.from({ length: requests }, (_, i) => ({
      mobileNumber: `2783${String(i).padStart(5, '0')}01`,
    }))
    const later = await rest<{ recipients: { apiMessageId: number }[] }>(client, '/sms/outgoing/send', {
      message: 'x',
      recipients,
      scheduledTime: '203001010000',
    })
    const scheduled = later.recipients.map(({ apiMessageId }) => apiMessageId)
    await restSend(client, ['27840000001'])
    const socketsBefore = await measure(gateway, sockets)

    const authorization = `Authorization: ${holder.key}\r\n`
    const texts: readonly ((i: number) => string)[] = [
      (i) => {
        const to = Array.from({ length: perSend }, (_, n) => `2782${String(i * perSend + n).padStart(5, '0')}01`)
        const all = to.map((mobileNumber) => ({ mobileNumber }))
        return withBody(
          '/api/rest/v1/sms/outgoing/send',
          'application/json',
          authorization,
          JSON.stringify({ message: 'x'.repeat(100), recipients: all }),
        )
      },
      (i) => {
        const to = Array.from({ length: perSend }, (_, n) => `2782${String(i * perSend + n).padStart(5, '0')}01`)
        return `GET /api/batchmessage.asp?apikey=${holder.key}&message=x&numbers=${to.join(';')} HTTP/1.1\r\nHost: gateway\r\n\r\n`
      },
      (i) => {
        const body = { sendingAccountNumber: holder.id, receivingAccountNumber: sub.id, transferQuantity: 1 + (i % 3) }
        return withBody('/api/rest/v1/credits/transfer', 'application/json', authorization, JSON.stringify(body))
      },
      (i) => {
        const items = [scheduled[i], scheduled[i + 1]].map((id) => `<MessageID><ID>${String(id)}</ID></MessageID>`)
        const root = 'Svc_DeleteScheduled'
        const body = `<${root}><ApiKey>${holder.key}</ApiKey><User/><Password/><MessageIDs>${items.join('')}</MessageIDs></${root}>`
        return withBody('/api/xmldeletescheduled.asp', 'text/xml', '', body)
      },
    ]
    const chance = testChance()
    const gone = Array.from({ length: requests }, async (_, i) => {
      await delay(chance.between(0, 3000))
      const text = texts[i % texts.length]?.(i) ?? ''
      // A quarter of the clients send only the beginning of their request.
      const written = i % 16 < 4 ? text.slice(0, 1 + chance.below(text.length)) : text
      await hangUp(port, written, { afterMs: chance.between(0, 1) ** 3 * 300, resets: chance.happens(0.5) })
    })
    await Promise.all(gone)

    // The process has returned to its initial state: no client connection is open and no request is in flight.
    await until(async () => (await measure(gateway, sockets)) <= socketsBefore + 1, 30_000)
    await until(async () => (await measure(gateway, 'gateway_requests_in_flight')) === 0, 20_000)
    const isWaiting = async () =>
      (
        await database.rows<{ n: number }>(
          "select (select count(*) from due) + (select count(*) from claimed_batch where ids <> '{}') as n",
        )
      )[0]
    await until(async () => Number((await isWaiting())?.n) === 0, 30_000)

    // Each send is stored with all its numbers, or not at all.
    const sends = await database.rows<{ numbers: string[]; cost: number }>(
      `select msisdns::text[] as numbers, (cardinality(msisdns) * price)::int as cost from send where scheduled_at is null`,
    )
    const whole = sends.filter(({ numbers }) => numbers[0]?.startsWith('2782'))
    expect(whole.filter(({ numbers }) => numbers.length !== perSend)).toEqual([])
    expect(new Set(whole.flatMap(({ numbers }) => numbers)).size).toBe(whole.length * perSend)
    const record = (await submissions(data.path)).map(({ number }) => number)
    expect(record.toSorted()).toEqual([...whole.flatMap(({ numbers }) => numbers), '27840000001'].toSorted())
    // Each deletion has refunded the deleted messages, and each transfer has changed both balances.
    const { resultsTotalAvailable: waiting } = await rest<{ resultsTotalAvailable: number }>(client, '/sms/scheduled')
    const moved = await restBalance({ url: gateway.url, key: sub.key })
    expect(await restBalance(client)).toBe(granted - 1 - whole.length * perSend - waiting - moved)
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect([whole.length > 0, waiting < requests, moved > 0]).toEqual([true, true, true])

    const busy = await database.rows(
      `select from pg_stat_activity where application_name like 'gateway%' and state <> 'idle'
        and query_start < now() - interval '1 second'`,
    )
    expect(busy).toEqual([])
    expect(gateway.output()).not.toMatch(/"level":"(?:error|fatal)"/)
    expect((await restSend(client, ['27840000002'])).map((id) => typeof id)).toEqual(['number'])
    console.log(
      `${requests} clients gone: ${whole.length} sends, ${requests - waiting} deletes and ${moved} credits moved all the same`,
    )
    expect(await gateway.stop()).toBe(0)
  } finally {
    killLeftovers()
    await database.remove()
    await data.remove()
  }
}, 120_000)
