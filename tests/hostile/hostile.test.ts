import { measure, openAccount } from '../support/accounts.ts'
import { attempt, quantile } from '../support/attempts.ts'
import { rest, type Client } from '../support/clients.ts'
import { startDatabase, type Database } from '../support/database.ts'
import { dataFolder, killLeftovers, startApp, type Started } from '../support/process.ts'
import { attacker, post, type Attack } from './attacker.ts'

/** `npx pnpm hostile` runs every attack at full strength. */
const isFull = process.env['HOSTILE'] === 'full'
const strength = isFull ? 1 : 0.2
const sends = isFull ? 200 : 25
const of = (full: number) => Math.ceil(full * strength)

let data: Awaited<ReturnType<typeof dataFolder>>
let database: Database
let gateway: Started
let victim: Client
let hostile: Client
let port: number
let quiet: readonly number[]
let numbers = 0
const table: string[] = []

beforeAll(async () => {
  data = await dataFolder()
  database = await startDatabase(`${data.path}/db`)
  const environment = {
    DATABASE_URL: database.connectionString,
    DATA_DIR: data.path,
    CARRIERS: 'simulator:?delayMs=10',
  }
  gateway = await startApp('all-in-one', environment)
  port = Number(new URL(gateway.url).port)
  victim = { url: gateway.url, key: (await openAccount(environment, 'victim', 100_000)).key }
  hostile = { url: gateway.url, key: (await openAccount(environment, 'hostile', 100_000)).key }
  await sendAll()
  quiet = (await sendAll()).times
}, 120_000)
afterAll(async () => {
  if (isFull) console.log(['attack: p50, p99 quiet and under it; memory; answers', ...table].join('\n'))
  killLeftovers()
  await database.remove()
  await data.remove()
})

/** Single sends of the victim, one after the other. */
async function sendAll(): Promise<{ readonly times: readonly number[]; readonly refused: number }> {
  const attempts = []
  for (let i = 0; i < sends; i++)
    attempts.push(await attempt('rest', victim, `278${String(numbers++).padStart(6, '0')}01`))
  return {
    times: attempts.map(({ milliseconds }) => milliseconds),
    refused: attempts.filter(({ id }) => id === undefined).length,
  }
}

const megabytes = async () => (await measure(victim, 'process_resident_memory_bytes')) / 1_000_000

const nested = (bytes: number) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)
const elements = (count: number) =>
  `<Svc_Multi_Message><ApiKey>gw_wrong</ApiKey>${'<a/>'.repeat(count)}</Svc_Multi_Message>`
const get = (path: string, key: string) => `GET ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${key}\r\n\r\n`

const attacks: Readonly<Record<string, () => Attack>> = {
  'heavy XML without credentials': () => ({
    connections: of(30),
    text: post('/api/xmlsendsmsmulti.asp', '', elements(240_000)),
    repeats: true,
  }),
  'large bodies that never end': () => ({
    connections: of(400),
    text: post('/api/xmlsendsmsmulti.asp', '', '<Svc_Multi_Message>'.padEnd(4_194_302, ' '), 4_194_303),
    repeats: false,
  }),
  'deep JSON': () => ({
    connections: of(60),
    text: post(
      '/api/rest/v1/credits/transfer',
      `Authorization: ${hostile.key}\r\nContent-Type: application/json\r\n`,
      nested(204_000),
    ),
    repeats: true,
  }),
  'deep pages of one account': () => ({
    connections: of(150),
    text: get('/api/rest/v1/sms/scheduled?offset=2000', hostile.key),
    repeats: true,
  }),
  'pipelined wrong keys': () => ({
    connections: of(20),
    requests: 500,
    text: get('/api/rest/v1/credits/balance', 'gw_wrong').repeat(500),
    repeats: true,
  }),
}

test.each(Object.keys(attacks))(
  '%s: a send of another account is not refused and hardly slower, memory stays, and nothing is an error',
  async (name) => {
    const recipients = Array.from({ length: 1000 }, (_, i) => ({ mobileNumber: `2784${String(i).padStart(5, '0')}01` }))
    if (name.startsWith('deep pages'))
      for (let i = 0; i < 3; i++)
        await rest(hostile, '/sms/outgoing/send', { message: 'x', recipients, scheduledTime: '203001010000' })
    const memory = await megabytes()
    const attacking = attacker(port, (attacks[name] as () => Attack)())
    const under = await sendAll()
    const grown = (await megabytes()) - memory
    const bodyBytes = await measure(victim, 'gateway_body_bytes')
    attacking.stop()

    const figures = [
      quantile(quiet, 0.5),
      quantile(quiet, 0.99),
      quantile(under.times, 0.5),
      quantile(under.times, 0.99),
    ]
    table.push(
      `${name}: ${figures.map((ms) => ms.toFixed()).join(' ')} ms; ${grown.toFixed()} MB; ${JSON.stringify([...attacking.answers])}`,
    )
    expect(under.refused).toBe(0)
    expect(quantile(under.times, 0.9)).toBeLessThan(Math.max(5 * quantile(quiet, 0.9), isFull ? 100 : 2000))
    expect(bodyBytes).toBeLessThanOrEqual(32 * 1024 * 1024)
    expect(grown).toBeLessThan(250)
    expect(gateway.output()).not.toMatch(/"level":"(?:error|fatal)"/)
  },
  120_000,
)
