import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { restSend, restStatus, untilCodes, type Client } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { operate, operateJson } from './support/operate.ts'
import { databaseFolder, killLeftovers, startApp, type DataFolder } from './support/process.ts'
import { smscPassword, startSmscProcess, type RunningSmsc } from './support/smsc.ts'

let data: DataFolder
let file: string
beforeEach(async () => {
  data = await databaseFolder()
  file = join(data.path, 'carriers.json')
})
afterEach(async () => {
  killLeftovers()
  await data.remove()
})

async function anSmsc(name: string): Promise<RunningSmsc> {
  const folder = join(data.path, name)
  await mkdir(folder)
  return startSmscProcess(folder, ['receiptDelay=20', 'answerDelay=20'])
}

const entry = (name: string, { port }: RunningSmsc, more: object = {}) => ({
  ...{ name, host: '127.0.0.1', port, systemId: 'gateway', password: { environment: 'SMSC_PASSWORD' } },
  ...more,
})

const write = (...carriers: readonly object[]): Promise<void> => writeFile(file, JSON.stringify({ carriers }))

const environmentOf = () => ({
  ...{ DATA_DIR: data.path, CARRIERS: `file:${file}`, SMSC_PASSWORD: smscPassword },
  ...{ RETRY_SECONDS: '1', LEASE_SECONDS: '5' },
})

/** Counts opened and closed connections and received unbinds. */
async function linksOf(smsc: RunningSmsc) {
  const journal = await smsc.journal()
  const count = (event: string, command?: string): number =>
    journal.filter((line) => line.event === event && (command === undefined || line.command === command)).length
  return { opened: count('opened'), closed: count('closed'), unbinds: count('received', 'unbind') }
}

test('SIGHUP under load: an unchanged link stays, a changed and a removed one end in order, and no message is lost or sent twice', async () => {
  const [unchanged, changed, removed, added] = await Promise.all(['kept', 'changed', 'removed', 'added'].map(anSmsc))
  if (!unchanged || !changed || !removed || !added) throw new Error('there is no SMSC')
  await write(
    entry('kept', unchanged, { window: 5 }),
    entry('changed', changed, { window: 5 }),
    entry('removed', removed, { window: 5 }),
  )
  const environment = environmentOf()
  const gateway = await startApp('all-in-one', environment)
  const client: Client = { url: gateway.url, key: (await openAccount(environment, 'reload', 4000)).key }
  const ids: number[] = []
  for (const at of [0, 1000, 2000, 3000]) {
    ids.push(...(await restSend(client, numbersEnding(1000, '01', at))).map(Number))
  }
  const smscs = [unchanged, changed, removed, added]
  const submits = async () => (await Promise.all(smscs.map((smsc) => smsc.submits()))).flat()
  await until(async () =>
    (await Promise.all([unchanged, changed, removed].map((one) => one.submits()))).every((s) => s.length > 20),
  )

  await until(async () => String(await changesOf(environment)) === 'changed,kept,removed')

  await write(entry('kept', unchanged, { window: 5 }), entry('changed', changed, { window: 6 }), entry('added', added))
  process.kill(gateway.pid, 'SIGHUP')
  await until(() => gateway.output().includes('the carriers were loaded again'))
  expect(gateway.output()).toContain('"added":["added"],"changed":["changed"],"removed":["removed"],"kept":["kept"]')
  await until(async () => (await linksOf(removed)).closed === 1 && (await linksOf(changed)).opened === 2)

  await untilCodes(client, ids, (code) => code === 0, 120_000)
  const numbers = (await submits()).map(({ destinationAddr }) => destinationAddr)
  expect([numbers.length, new Set(numbers).size]).toEqual([4000, 4000])
  expect((await added.submits()).length).toBeGreaterThan(0)
  await until(async () => String(await changesOf(environment)) === 'added,changed,kept')
  const health = (await (await fetch(`${gateway.url}/health/carriers`)).json()) as { carriers: readonly object[] }
  expect(health.carriers).toMatchObject(
    ['kept', 'added', 'changed'].map((carrier) => ({
      ...{ carrier, links: [{ role: 'transceiver', inUse: 0 }], lastError: null },
      boundSince: expect.any(String) as string,
    })),
  )
  expect(JSON.stringify(health)).not.toContain(smscPassword)
  expect(await linksOf(unchanged)).toEqual({ opened: 1, closed: 0, unbinds: 0 })
  expect(await linksOf(changed)).toEqual({ opened: 2, closed: 1, unbinds: 1 })
  expect(await linksOf(removed)).toEqual({ opened: 1, closed: 1, unbinds: 1 })
  expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
  expect(await gateway.stop()).toBe(0)
}, 300_000)

test('routes of the file decide by prefix, and those of the next one after SIGHUP', async () => {
  const [one, other] = await Promise.all(['one', 'other'].map(anSmsc))
  if (!one || !other) throw new Error('there is no SMSC')
  const carriers = [entry('one', one), entry('other', other)]
  const route = (name: string, carrier: string, prefixes: readonly string[] = []) => ({
    ...{ name, prefixes, carriers: [{ carrier }] },
  })
  const routed = (...routes: readonly object[]): Promise<void> => writeFile(file, JSON.stringify({ carriers, routes }))
  await routed(route('first', 'one', ['27820000']), route('all', 'other'))
  const environment = environmentOf()
  const gateway = await startApp('all-in-one', environment)
  const client: Client = { url: gateway.url, key: (await openAccount(environment, 'routes', 100_000)).key }
  const sendTo = async (numbers: readonly string[], url = gateway.url): Promise<void> => {
    const ids = (await restSend({ ...client, url }, numbers)).map(Number)
    await until(async () => (await restStatus({ ...client, url }, ids)).every(({ statusCode }) => statusCode === 0))
  }
  const numbersOf = async (smsc: RunningSmsc) =>
    (await smsc.submits()).map(({ destinationAddr = '' }) => destinationAddr).toSorted()
  const [here, there] = [numbersEnding(5), numbersEnding(5, '01', 90_000)]
  await sendTo([...here, ...there])
  expect([await numbersOf(one), await numbersOf(other)]).toEqual([here, there])

  await routed(route('all', 'one'))
  process.kill(gateway.pid, 'SIGHUP')
  await until(() => gateway.output().includes('the carriers were loaded again'))
  const later = numbersEnding(5, '01', 95_000)
  await sendTo(later)
  expect([await numbersOf(one), await numbersOf(other)]).toEqual([[...here, ...later], there])

  await operate(['carrier', 'pause', 'one'], environment)
  const [paused, drained] = [numbersEnding(5, '01', 96_000), numbersEnding(5, '01', 97_000)]
  const ids = (await restSend(client, paused)).map(Number)
  const ready = (await (await fetch(`${gateway.url}/health/ready`)).json()) as { ready: boolean; notes?: string[] }
  expect(ready).toMatchObject({ ready: true, notes: [expect.stringContaining('carrier one is paused since')] })
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toContain('gateway_carrier_paused{carrier="one"} 1\n')
  expect(await linksOf(one)).toMatchObject({ closed: 0 })
  await operate(['carrier', 'drain', 'one'], environment)
  await until(async () => (await linksOf(one)).closed === 1)
  expect(await gateway.stop()).toBe(0)
  const again = await startApp('all-in-one', environment)
  ids.push(...(await restSend({ ...client, url: again.url }, drained)).map(Number))
  await until(async () => String(await changesOf(environment)) === 'one,other')
  expect([await numbersOf(one), await linksOf(one)]).toMatchObject([[...here, ...later], { opened: 1 }])
  await operate(['carrier', 'resume', 'one'], environment)
  const codes = async () => (await restStatus({ ...client, url: again.url }, ids)).map(({ statusCode }) => statusCode)
  await until(async () => (await codes()).every((code) => code === 0))
  expect(await numbersOf(one)).toEqual([...here, ...later, ...paused, ...drained])

  const [watched = '', another = ''] = numbersEnding(2, '01', 98_000)
  const command = { isOver: false }
  const watching = operateJson<{ rows: readonly { pid: number; fields: { command: string } }[] }>(
    ['carrier', 'watch', 'one', '--to', watched, '--seconds', '3'],
    environment,
  ).finally(() => (command.isOver = true))
  while (!command.isOver) {
    await sendTo([watched, another], again.url)
    await delay(100)
  }
  const { rows } = await watching
  expect(new Set(rows.map(({ pid }) => pid))).toEqual(new Set([again.pid]))
  const seen = ['submit_sm', 'submit_sm_resp', 'deliver_sm', 'deliver_sm_resp']
  expect(new Set(rows.map(({ fields }) => fields.command))).toEqual(new Set(seen))
  expect(JSON.stringify(rows)).not.toContain(another)
  expect(await again.stop()).toBe(0)
}, 120_000)

/** Returns the carriers that dispatchers report. */
const changesOf = async (environment: Readonly<Record<string, string>>): Promise<readonly string[]> =>
  (await operateJson<{ rows: readonly { carrier: string }[] }>(['carrier', 'list'], environment)).rows.map(
    ({ carrier }) => carrier,
  )

test('SIGHUP with a wrong file: one log line says what is wrong without a password, and sending continues', async () => {
  const smsc = await anSmsc('smsc')
  await write(entry('one', smsc))
  const environment = environmentOf()
  const gateway = await startApp('dispatcher', environment)
  await until(async () => (await linksOf(smsc)).opened === 1)
  await write(entry('one', smsc, { password: 'hidden', windows: 5 }))
  process.kill(gateway.pid, 'SIGHUP')
  await until(() => gateway.output().includes('the previous ones stay in use'))
  const line = gateway.output().split('\n').filter((each) => each.includes('the previous ones stay in use')) // prettier-ignore
  expect(line).toHaveLength(1)
  expect(line[0]).toContain('/carriers/0: there is no field \\"windows\\"')
  expect(gateway.output()).not.toMatch(/hidden|pa55w0rd/)
  await write(entry('one', smsc))
  process.kill(gateway.pid, 'SIGHUP')
  await until(() => gateway.output().includes('"added":[],"changed":[],"removed":[],"kept":["one"]'))
  expect(await linksOf(smsc)).toEqual({ opened: 1, closed: 0, unbinds: 0 })
  expect(await gateway.stop()).toBe(0)
}, 120_000)
