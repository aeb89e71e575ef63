import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { restSend, untilCodes, type Client } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { databaseFolder, killLeftovers, startApp, type DataFolder } from './support/process.ts'
import { startSmscProcess, type JournalLine, type RunningSmsc } from './support/smsc.ts'

let data: DataFolder
beforeEach(async () => (data = await databaseFolder()))
afterEach(async () => {
  killLeftovers()
  await data.remove()
})

type Line = JournalLine & { readonly link: number; readonly status?: string }

/** Returns the number of present binds, and the maximum at any time. */
async function bindsOf(smsc: RunningSmsc) {
  const bound = new Set<number>()
  let most = 0
  for (const { event, command, link, status } of (await smsc.journal()) as readonly Line[]) {
    if (event === 'sent' && command === 'bind_transceiver_resp' && status === undefined) bound.add(link)
    if (event === 'closed') bound.delete(link)
    most = Math.max(most, bound.size)
  }
  return { now: bound.size, most, links: [...bound].join() }
}

test('two dispatchers share the binds of a carrier: never more than allowed, and the other takes over after kill -9 and after a stop', async () => {
  const folder = join(data.path, 'smsc')
  await mkdir(folder)
  const smsc = await startSmscProcess(folder, ['receiptDelay=20'])
  const environment = {
    ...{ DATA_DIR: data.path, CARRIERS: `${smsc.url}?binds=3&bindsMax=3&holdSeconds=1` },
    ...{ RETRY_SECONDS: '1', LEASE_SECONDS: '4' },
  }
  const killed = await startApp('dispatcher', environment)
  await until(async () => (await bindsOf(smsc)).now === 3)
  const stopped = await startApp('dispatcher', environment)
  await until(() => stopped.output().includes('all 3 binds are in use; it waits for one'))
  const first = (await bindsOf(smsc)).links
  await killed.stop('SIGKILL')
  await until(async () => (await bindsOf(smsc)).now === 3 && (await bindsOf(smsc)).links !== first)

  const last = await startApp('all-in-one', environment)
  await until(() => last.output().includes('all 3 binds are in use; it waits for one'))
  const second = (await bindsOf(smsc)).links
  expect(await stopped.stop()).toBe(0)
  await until(async () => (await bindsOf(smsc)).now === 3 && (await bindsOf(smsc)).links !== second)
  const client: Client = { url: last.url, key: (await openAccount(environment, 'shared', 100)).key }
  const ids = (await restSend(client, numbersEnding(100))).map(Number)
  await untilCodes(client, ids, (code) => code === 0)
  expect((await bindsOf(smsc)).most).toBe(3)
  expect(await last.stop()).toBe(0)
}, 300_000)

test('three dispatchers that start and stop never hold more binds than allowed', async () => {
  const folder = join(data.path, 'smsc')
  await mkdir(folder)
  const smsc = await startSmscProcess(folder, [])
  const environment = {
    ...{ DATA_DIR: data.path, CARRIERS: `${smsc.url}?binds=2&bindsMax=4`, LEASE_SECONDS: '3' },
  }
  const dispatchers = await Promise.all([1, 2, 3].map(() => startApp('dispatcher', environment)))
  await until(async () => (await bindsOf(smsc)).now === 4)
  await dispatchers[0]?.stop('SIGKILL')
  await dispatchers[1]?.stop()
  dispatchers.push(await startApp('dispatcher', environment))
  await until(async () => (await bindsOf(smsc)).now === 4, 60_000)
  expect((await bindsOf(smsc)).most).toBe(4)
  for (const dispatcher of dispatchers.slice(2)) expect(await dispatcher.stop()).toBe(0)
  await until(async () => (await bindsOf(smsc)).now === 0)
}, 300_000)
