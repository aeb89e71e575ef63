import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chanceOf, runsEveryForm, testSeed, until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { patiently, restSend } from './support/clients.ts'
import { startDatabase, type Database } from './support/database.ts'
import { operateJson } from './support/operate.ts'
import { freePorts } from './support/pairs.ts'
import { dataFolder, killLeftovers, startApp, type Environment, type Started } from './support/process.ts'
import { startSmscProcess } from './support/smsc.ts'

/** One gateway sends through another one as its carrier over HTTP, and both are killed meanwhile. */
const size = runsEveryForm ? { messages: 20_000, kills: 20 } : { messages: 400, kills: 2 }
const perSend = 500
/** Share of the messages whose recipients reply. */
const replyShare = 0.1

afterAll(killLeftovers)

/** Gateway whose process is killed and started again, on a database that continues to run. */
interface Side {
  readonly database: Database
  readonly environment: Environment
  readonly url: string
  kill(): Promise<void>
  stop(): Promise<unknown>
}

async function startSide(
  name: string,
  at: string,
  database: Database,
  port: number,
  further: Environment,
): Promise<Side> {
  const folder = join(at, `${name}-data`)
  await mkdir(folder)
  const environment = {
    ...{ DATABASE_URL: database.connectionString, DATA_DIR: folder, LEASE_SECONDS: '3', IN_DOUBT_MAX: '100' },
    ...further,
  }
  const start = (): Promise<Started> => startApp('all-in-one', { ...environment, PORT: String(port) })
  let current = await start()
  return {
    ...{ database, environment, url: current.url },
    kill: async () => {
      await current.stop('SIGKILL')
      current = await start()
    },
    stop: () => current.stop(),
  }
}

/** Returns the numbers of an account's messages with this code. */
async function numbersOf({ database }: Side, code: number): Promise<ReadonlySet<string>> {
  const rows = await database.rows<{ number: string }>('select msisdn::text as number from message where code = $1', [
    code,
  ])
  return new Set(rows.map(({ number }) => number))
}

test(`${size.messages} messages through a second gateway, with ${size.kills} kills of either: none twice, none lost`, async () => {
  const data = await dataFolder()
  const [outerPort = 0, innerPort = 0] = await freePorts(2)
  const [outerBase, innerBase] = await Promise.all(
    ['outer', 'inner'].map((name) => startDatabase(join(data.path, name))),
  )
  if (outerBase === undefined || innerBase === undefined) throw new Error('the databases did not start')
  const smsc = await startSmscProcess(data.path, ['receiptDelay=20'])
  const inner = await startSide('inner', data.path, innerBase, innerPort, {
    ...{ CARRIERS: `${smsc.url}?window=50`, WEBHOOK_HTTP: 'true', WEBHOOK_ALLOW: '127.0.0.1/32' },
  })
  const { id, key } = await openAccount(inner.environment, 'outer', 100_000)
  const callback = `http://127.0.0.1:${outerPort}/carriers/inner/callback`
  const { secret } = await operateJson<{ secret: string }>(
    ['webhook', 'add', '--account', String(id), '--url', callback, '--with-text'],
    inner.environment,
  )
  const file = join(data.path, 'carriers.json')
  const secrets = { key, signing: secret }
  const carrier = { name: 'inner', type: 'http', provider: 'gateway', baseUrl: inner.url, secrets, window: 50 }
  await writeFile(file, JSON.stringify({ carriers: [carrier] }))
  const outer = await startSide('outer', data.path, outerBase, outerPort, {
    ...{ CARRIERS: `file:${file}`, PUBLIC_URL: `http://127.0.0.1:${outerPort}` },
  })
  const client = { url: outer.url, key: (await openAccount(outer.environment, 'acme', 100_000)).key }

  const chance = chanceOf(testSeed())
  const numbers = Array.from({ length: size.messages }, (_, at) => {
    return `2782${String(at).padStart(5, '0')}${chance.happens(replyShare) ? '88' : '01'}`
  })
  for (let at = 0; at < numbers.length; at += perSend) {
    const sent = await patiently(() => restSend(client, numbers.slice(at, at + perSend)))
    expect(sent.filter((one) => typeof one === 'string')).toEqual([])
  }

  const submitted = async () => (await smsc.submits()).map(({ destinationAddr = '' }) => destinationAddr)
  for (let kill = 1; kill <= size.kills; kill++) {
    // The kills are spread over the time in which messages flow.
    const due = (size.messages * kill) / (size.kills + 2)
    await until(async () => (await submitted()).length >= due, 300_000)
    await (kill % 2 === 0 ? outer : inner).kill()
  }

  const settled = async (): Promise<boolean> => {
    const [delivered, unknown] = await Promise.all([numbersOf(outer, 0), numbersOf(outer, 106)])
    const reached = new Set(await submitted())
    return delivered.size + unknown.size === size.messages && [...unknown].every((number) => !reached.has(number))
  }
  await until(settled, 600_000)
  const all = await submitted()
  const delivered = await numbersOf(outer, 0)
  const unknown = await numbersOf(outer, 106)
  // No message is submitted twice, and none is lost: a message is DELIVERED, or unknown because it never reached the
  // last carrier.
  expect(all.length).toBe(new Set(all).size)
  expect(numbers.filter((number) => !delivered.has(number) && !unknown.has(number))).toEqual([])
  expect(all.filter((number) => !delivered.has(number))).toEqual([])
  const repliers = [...delivered].filter((number) => number.endsWith('88'))
  const replied = async (): Promise<ReadonlySet<string>> => {
    const rows = await outer.database.rows<{ number: string }>(
      'select distinct from_address as number from inbound_message',
    )
    return new Set(rows.map(({ number }) => number))
  }
  await until(async () => (await replied()).size >= repliers.length, 120_000)
  process.stdout.write(
    `two gateways: ${delivered.size} delivered, ${unknown.size} unknown that never left, ${repliers.length} replied\n`,
  )

  await Promise.all([outer.stop(), inner.stop()])
  await smsc.stop()
  await Promise.all([outerBase.remove(), innerBase.remove()])
  await data.remove()
}, 1_500_000)
