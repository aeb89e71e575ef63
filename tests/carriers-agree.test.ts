import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openDatabase } from '@gateway/embedded-postgres'
import { query } from '../packages/embedded-postgres/testing/query.ts'
import { openAccount } from './support/accounts.ts'
import { restSend, restStatus, type Client } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { operateJson } from './support/operate.ts'
import { databaseFolder, killLeftovers, spawnApp, startApp, type DataFolder } from './support/process.ts'
import { submissions } from './support/record.ts'
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
  return startSmscProcess(folder, ['receiptDelay=20'])
}

const entry = (name: string, { port }: RunningSmsc, more: object = {}) => ({
  ...{ name, host: '127.0.0.1', port, systemId: 'gateway', password: smscPassword },
  ...more,
})

const numbersOf = async (smsc: RunningSmsc) =>
  (await smsc.submits()).map(({ destinationAddr = '' }) => destinationAddr).toSorted()

test('a dispatcher without CARRIERS, or with the name misspelt, beside two with a file: nothing goes to the simulator, the routes stay, and both follow a pause', async () => {
  const [here, there] = await Promise.all([anSmsc('here'), anSmsc('there')])
  const carriers = [entry('here', here), entry('there', there)]
  const routes = [
    { name: 'near', prefixes: ['2782000'], carriers: [{ carrier: 'here' }] },
    { name: 'all', carriers: [{ carrier: 'there' }] },
  ]
  await writeFile(file, JSON.stringify({ carriers, routes }))
  const bare = { DATA_DIR: data.path, RETRY_SECONDS: '1', LEASE_SECONDS: '5' }
  const named = { ...bare, CARRIERS: `file:${file}` }
  const rest = await startApp('rest', bare)
  const both = await Promise.all([startApp('dispatcher', named), startApp('dispatcher', named)])
  const client: Client = { url: rest.url, key: (await openAccount(bare, 'scene', 500)).key }
  const [third, fourth] = await Promise.all([
    startApp('dispatcher', bare),
    startApp('dispatcher', { ...bare, CARIERS: `file:${file}` }),
  ])
  expect(fourth.output()).toContain('CARIERS')

  const near = numbersEnding(60)
  const far = numbersEnding(60, '01', 90_000)
  const ids: number[] = []
  for (let at = 0; at < 60; at += 10) {
    ids.push(...(await restSend(client, [...near.slice(at, at + 10), ...far.slice(at, at + 10)])).map(Number))
  }
  await until(async () => (await restStatus(client, ids)).every(({ statusCode }) => statusCode === 0))
  expect([await numbersOf(here), await numbersOf(there)]).toEqual([near.toSorted(), far.toSorted()])
  expect(await submissions(data.path)).toEqual([])
  for (const one of [third, fourth]) {
    expect(one.output()).not.toContain(smscPassword)
    expect(await one.stop()).toBe(0)
  }
  const [later = ''] = numbersEnding(1, '01', 95_000)
  const [id = 0] = (await restSend(client, [later])).map(Number)
  await until(async () => (await restStatus(client, [id]))[0]?.statusCode === 0)
  expect(await numbersOf(there)).toContain(later)

  const isFollowed = async (verb: string, mode: string): Promise<void> => {
    expect(await operateJson(['carrier', verb, 'there'], bare)).toMatchObject({ mode, dispatchers: 2, following: 2 })
    for (const one of both) expect(one.output()).toContain(`"carrier":"there","mode":"${mode}"`)
  }
  await isFollowed('pause', 'paused')
  const [last = ''] = numbersEnding(1, '01', 95_001)
  const [waiting = 0] = (await restSend(client, [last])).map(Number)
  const [explained] = (await operateJson<Rows>(['message', 'explain', String(waiting)], bare)).rows
  expect(explained).toMatchObject({ now: { place: 'queue' }, waitsFor: 'held', waitsForCarriers: ['there'] })
  await isFollowed('resume', 'running')
  await until(async () => (await restStatus(client, [waiting]))[0]?.statusCode === 0)
  expect((await numbersOf(there)).filter((number) => number === last)).toHaveLength(1)
}, 240_000)

interface Rows {
  readonly rows: readonly object[]
}

test('of two dispatchers started at once with different files one runs; the other names the differences until its file is applied', async () => {
  const smsc = await anSmsc('smsc')
  const windows = [11, 12]
  const files = windows.map((window) => join(data.path, `carriers-${window}.json`))
  const write = (path: string, more: object): Promise<void> =>
    writeFile(path, JSON.stringify({ carriers: [entry('one', smsc, more)] }))
  await Promise.all(files.map((path, at) => write(path, { window: windows[at] })))
  const bare = { DATA_DIR: data.path, LEASE_SECONDS: '5' }
  const begun = files.map((path) => spawnApp('dispatcher', { ...bare, CARRIERS: `file:${path}` }))
  const isUp = (at: number): boolean => begun[at]?.output().includes('"msg":"started"') ?? false
  const won = await until(() => [0, 1].find(isUp))
  const [winner, loser] = [begun[won], begun[1 - won]]
  if (winner === undefined || loser === undefined) throw new Error('nothing was started')
  expect(await loser.ended).toBe(1)
  const [ofWinner = 0, ofLoser = 0] = [windows[won], windows[1 - won]]
  expect(loser.output()).toContain(`  carrier one: window ${ofWinner} -> ${ofLoser}\n`)
  expect(loser.output()).toContain(`gateway carrier apply ${files[1 - won] ?? ''}\n`)

  const simulating = spawnApp('all-in-one', { ...bare, CARRIERS: 'simulator:' })
  expect(await simulating.ended).toBe(1)
  expect(simulating.output()).toContain('  carrier one: removed\n  carrier simulator: new, simulator\n')

  const applied = await operateJson(['carrier', 'apply', files[1 - won] ?? ''], bare)
  expect(applied).toMatchObject({ carriersVersion: 2, processes: [{ pid: winner.pid, carriersVersion: 2 }] })
  const second = await startApp('dispatcher', { ...bare, CARRIERS: `file:${files[1 - won] ?? ''}` })

  await write(files[1 - won] ?? '', { window: 13 })
  process.kill(second.pid, 'SIGHUP')
  await until(() => [winner, second].every((one) => one.output().includes('"version":3,"added":[],"changed":["one"]')))
  // The first process reads its file again. The file has not changed, so the process does not revert the change.
  process.kill(winner.pid, 'SIGHUP')
  await until(() => winner.output().includes('the stored carriers, which stay in use'))
  expect(winner.output()).toContain('carrier one: window 13 -> ')
  const { rows } = await operateJson<Listed>(['carrier', 'versions'], bare)
  expect(
    rows.map(({ carriersVersion, storedBy }) => [carriersVersion, storedBy.replace(/ on .* (at|on|by) /, ' $1 ')]),
  ).toEqual([
    [3, `process ${second.pid} on SIGHUP`],
    [2, expect.stringContaining('by carrier apply')],
    [1, `process ${winner.pid} at its start`],
  ])
  expect([winner, loser, second, simulating].map((one) => one.output()).join('')).not.toContain(smscPassword)
  expect(await stored(bare)).not.toContain(smscPassword)
  expect(await Promise.all([winner.stop(), second.stop()])).toEqual([0, 0])
}, 240_000)

interface Listed {
  readonly rows: readonly { readonly carriersVersion: number; readonly storedBy: string }[]
}

/** Returns everything that a dump contains about carriers. */
async function stored({ DATA_DIR }: { readonly DATA_DIR: string }): Promise<string> {
  const database = await openDatabase({ url: undefined, dataDir: DATA_DIR })
  try {
    const rows = await query(database.connectionString, 'select v::text as row from carrier_version v')
    expect(rows).toHaveLength(3)
    return JSON.stringify(rows)
  } finally {
    await database.stop()
  }
}
