import { access, readdir } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import {
  copyCluster,
  dataFolder,
  killLeftovers,
  listening,
  runGateway,
  spawnApp,
  spawnInTerminal,
  startApp,
  type DataFolder,
} from './support/process.ts'

let data: DataFolder
let environment: { readonly DATA_DIR: string; readonly CARRIERS: string }

beforeEach(async () => {
  data = await dataFolder()
  environment = { DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=0' }
})
afterEach(async () => {
  killLeftovers()
  await data.remove()
})

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
const postmasterRuns = (): Promise<boolean> => isThere(join(data.path, 'postgres', 'postmaster.pid'))
const isMakingItsCluster = async (): Promise<boolean> =>
  (await readdir(data.path)).some((name) => name.includes('.new-'))

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** Sends a GET, over a kept connection if `agent` keeps it. */
const get = (url: string, agent: Agent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const client = request(url, { agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> })
      })
    })
    client.on('error', reject)
    client.end()
  })

test('a first start whose port is in use reports it, leaves no PostgreSQL running, and opens no account whose key would be lost', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const refused = spawnApp('all-in-one', { ...environment, PORT: String(port) })
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toContain(
    `all-in-one cannot start: Cannot listen on 127.0.0.1:${port}: another process uses this port. Stop it, or set PORT`,
  )
  expect(await postmasterRuns()).toBe(false)
  await new Promise((resolve) => other.close(resolve))

  const next = await startApp('all-in-one', { ...environment, PORT: String(port) })
  const key = await until(() => /API key {3}(\S+)/.exec(next.output())?.[1])
  expect(await (await fetch(`${next.url}/api/credits.asp?apikey=${key}`)).text()).toBe('Credits=1000')
  expect(await next.stop()).toBe(0)
}, 120_000)

test('a database that accepts connections and closes them ends a start with 1 and a command with 3, and both say why', async () => {
  const closing = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end(),
  ).listen(0, '127.0.0.1')
  await new Promise((resolve) => closing.once('listening', resolve))
  const DATABASE_URL = `postgres://me@127.0.0.1:${(closing.address() as AddressInfo).port}/none`
  const refused = spawnApp('rest', { ...environment, DATABASE_URL })
  const list = runGateway(['account', 'list'], { ...environment, DATABASE_URL })
  expect([await refused.ended, (await list).code]).toEqual([1, 3])
  expect(refused.output()).toContain('rest cannot start: the database cannot be reached: Connection terminated')
  expect((await list).err).toMatch(/^The database cannot be reached: Connection terminated.* Check DATABASE_URL/)
  await new Promise((resolve) => closing.close(resolve))
}, 120_000)

test.each(['all-in-one', 'dispatcher'] as const)(
  '%s: with DRAIN_SECONDS it says first that it is not ready, serves on meanwhile, and a second SIGTERM ends the wait',
  async (app) => {
    await copyCluster(data.path)
    const running = await startApp(app, { ...environment, DRAIN_SECONDS: '600' })
    await until(() => running.output().includes('"started"'))
    const [keepAlive, fresh] = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent()]
    expect(await get(`${running.url}/health/ready`, keepAlive)).toMatchObject({ status: 200, body: { ready: true } })
    const ended = running.stop()
    await until(async () => (await get(`${running.url}/health/ready`, keepAlive)).status === 503)
    for (const agent of [keepAlive, fresh]) {
      expect(await get(`${running.url}/health/ready`, agent)).toMatchObject({
        status: 503,
        body: { ready: false, stopping: true, checks: { database: 'ok' } },
      })
      expect(await get(`${running.url}/health/live`, agent)).toMatchObject({ status: 200 })
    }
    if (app === 'all-in-one') {
      const key = /API key {3}(\S+)/.exec(running.output())?.[1] ?? ''
      expect(
        await (await fetch(`${running.url}/api/batchmessage.asp?apikey=${key}&message=Hi&numbers=27825550101`)).text(),
      ).toMatch(/=1&$/)
      const status = async () => (await fetch(`${running.url}/api/requestbatch.asp?apikey=${key}&messageid=1;`)).text()
      await until(async () => (await status()).includes('DELIVERED'))
    }
    keepAlive.destroy()
    // Two signals within 300 ms count as one.
    await delay(400)
    const again = performance.now()
    expect(await Promise.race([running.stop(), ended])).toBe(0)
    expect(performance.now() - again).toBeLessThan(25_000)
    expect(await postmasterRuns()).toBe(false)
  },
  120_000,
)

describe('SIGTERM while it starts ends it with 0, and leaves no PostgreSQL', () => {
  test('while it loads its modules', async () => {
    const kill = `process.kill(process.pid, 'SIGTERM')`
    const onceItListens = `process.on('newListener', (event) => event === 'SIGTERM' && setImmediate(() => ${kill}))`
    const preload = `data:text/javascript,${encodeURIComponent(onceItListens)}`
    const starting = spawnApp('all-in-one', { ...environment, NODE_OPTIONS: `--import=${preload}` })
    expect([await starting.ended, starting.output()]).toEqual([0, ''])
    expect(await readdir(data.path)).toEqual([])
  }, 90_000)

  test.each([
    ['makes its cluster', isMakingItsCluster],
    ['starts PostgreSQL', postmasterRuns],
  ])(
    'while it %s',
    async (_what, isThen) => {
      const starting = spawnApp('all-in-one', environment)
      await until(isThen, 60_000)
      expect(await starting.stop()).toBe(0)
      expect(starting.output()).not.toContain('API key')
      expect(await postmasterRuns()).toBe(false)
    },
    120_000,
  )
})

describe('SIGHUP', () => {
  const onLinux = process.platform === 'linux' ? test : test.skip
  onLinux(
    'by a terminal that closes stops a server in order, though nobody reads its log any more',
    async () => {
      await copyCluster(data.path)
      const terminal = spawnInTerminal('all-in-one', environment)
      const url = await listening(terminal)
      const pid = Number(/"pid":(\d+)/.exec(terminal.output())?.[1])
      expect((await fetch(`${url}/health/ready`)).status).toBe(200)
      await terminal.stop('SIGKILL')
      await until(() => !isAlive(pid), 30_000)
      expect(await postmasterRuns()).toBe(false)
      expect((await runGateway(['dispatcher', 'list'], environment)).err).toContain('No dispatcher runs')
    },
    120_000,
  )

  test('from another process does nothing to a server without a terminal', async () => {
    await copyCluster(data.path)
    const running = await startApp('rest', environment)
    process.kill(running.pid, 'SIGHUP')
    await until(() => running.output().includes('SIGHUP'))
    expect((await fetch(`${running.url}/health/ready`)).status).toBe(200)
    expect(await running.stop()).toBe(0)
    expect(await postmasterRuns()).toBe(false)
  }, 120_000)
})
