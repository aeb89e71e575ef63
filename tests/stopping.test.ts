import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { startEmbeddedPostgres } from '@gateway/embedded-postgres'
import pg from 'pg'
import { query } from '../packages/embedded-postgres/testing/query.ts'
import { openAccount } from './support/accounts.ts'
import { carriers } from './support/carriers.ts'
import { inTurn } from './support/in-turn.ts'
import { attempt, interfaces, type Attempt } from './support/attempts.ts'
import { restBalance, restStatus } from './support/clients.ts'
import { operate } from './support/operate.ts'
import { databaseFolder, killLeftovers, startApp } from './support/process.ts'

afterEach(killLeftovers)

const granted = 100_000
/**
 * Maximum number of unanswered requests. It is less than the backlog of connections, beyond which the system refuses
 * connections.
 */
const unansweredMax = 300
/** Maximum duration of a stop (P-16). */
const secondsToStop = 25

test.each(inTurn(carriers))(
  'over %s: SIGTERM while everything is busy: each request that was begun has its whole answer, nothing is left in doubt, and it ends in time',
  async (_title, startCarrier) => {
    const data = await databaseFolder()
    // The carrier is slower than the senders, so that messages are always waiting.
    const carrier = await startCarrier({ DATA_DIR: data.path }, 50)
    const environment = { DATA_DIR: data.path, CARRIERS: carrier.limitedTo(200) }
    const stopping = new AbortController()
    try {
      const first = await startApp('all-in-one', environment)
      const { key } = await openAccount(environment, 'busy', granted)
      const attempts: Promise<Attempt>[] = []
      let unanswered = 0
      const send = async (number: string): Promise<Attempt> => {
        unanswered++
        try {
          return await attempt(interfaces[attempts.length % 3] ?? 'rest', { url: first.url, key }, number)
        } finally {
          unanswered--
        }
      }
      const keepSending = async (): Promise<void> => {
        while (!stopping.signal.aborted) {
          const number = `2782${String(attempts.length).padStart(5, '0')}01`
          if (unanswered < unansweredMax) attempts.push(send(number))
          await delay(2)
        }
      }
      const sending = keepSending()
      await until(async () => attempts.length > 300 && (await attempts[300])?.status === 200, 30_000)

      const signalledAt = performance.now()
      const code = await first.stop()
      const seconds = (performance.now() - signalledAt) / 1000
      stopping.abort()
      await sending
      expect(code).toBe(0)
      expect(seconds).toBeLessThan(secondsToStop)
      expect(first.output()).not.toMatch(/requests broken off|"level":"(?:error|fatal)"/)

      const all = await Promise.all(attempts)
      const refused = all.filter(({ status }) => status === 0)
      // Returns false for requests that were sent too late to be read. A busy client connects long after the request
      // was begun.
      const cameInTime = ({ begun, text }: Attempt) => begun < signalledAt - 100 && !/ECONNREFUSED/.test(text)
      expect(refused.filter(cameInTime)).toEqual([])
      expect(refused.filter(({ text }) => !/fetch failed/.test(text))).toEqual([])
      expect(all.filter(({ status }) => status !== 0 && status !== 200)).toEqual([])
      const accepted = all.filter(({ id }) => id !== undefined)
      const ids = accepted.flatMap(({ id }) => id ?? [])

      const unlimited = { ...environment, CARRIERS: carrier.url }
      expect((await operate(['carrier', 'apply'], unlimited)).code).toBe(0)
      const next = await startApp('all-in-one', unlimited)
      const client = { url: next.url, key }
      const codes = async () => (await restStatus(client, ids)).map(({ statusCode }) => statusCode)
      await until(async () => (await codes()).every((status) => status === 0 || status === 100), 30_000)
      expect(await restBalance(client)).toBe(granted - ids.length)
      const record = (await carrier.submitted()).map(({ number }) => number)
      expect(record.toSorted()).toEqual(accepted.map(({ number }) => number).toSorted())
      expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
      console.log(`stopped after ${seconds.toFixed(1)} s with ${all.length - refused.length} requests answered`)
      expect(await next.stop()).toBe(0)
    } finally {
      stopping.abort()
      killLeftovers()
      await data.remove()
    }
  },
  120_000,
)

test('a request whose client has disconnected ends before the database connections are closed', async () => {
  const data = await databaseFolder()
  const environment = { DATA_DIR: data.path }
  const rest = await startApp('rest', environment)
  const database = await startEmbeddedPostgres({ dataDir: data.path })
  const holder = new pg.Client({ connectionString: database.connectionString })
  try {
    const { key } = await openAccount(environment, 'gone', 10)
    await holder.connect()
    await holder.query('begin; lock table api_key')
    const client = new AbortController()
    const headers = { Authorization: key }
    const answer = fetch(`${rest.url}/api/rest/v1/credits/balance`, { headers, signal: client.signal })
    const isWaiting = async () => {
      const text = 'select 1 from pg_stat_activity where wait_event_type = $1 and application_name like $2'
      return (await query(database.connectionString, text, ['Lock', 'gateway%'])).length > 0
    }
    await until(isWaiting)
    client.abort()
    await expect(answer).rejects.toThrow('aborted')
    const stopped = rest.stop()
    await until(() => rest.output().includes('"msg":"stopping"'))
    // The request still waits for the lock while the process stops.
    await delay(300)
    await holder.query('rollback')
    expect(await stopped).toBe(0)
    expect(rest.output()).not.toMatch(/"level":"(?:error|fatal)"|after calling end/)
  } finally {
    await holder.end()
    await database.stop()
    killLeftovers()
    await data.remove()
  }
}, 60_000)
