import { EventEmitter } from 'node:events'
import { str } from 'envalid'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { createApp } from './create-app.ts'
import { listen } from './listen.ts'
import { runProcess, type Life } from './run-process.ts'
import { processVariables } from './variables.ts'

/** A process that can be sent signals, and that notes how it would have ended. */
const fakeHost = (env: Record<string, string> = {}) => {
  const events = new EventEmitter()
  const exits: number[] = []
  const written: string[] = []
  const errors: string[] = []
  return {
    env,
    exits,
    stderr: { write: (text: string) => errors.push(text) },
    logTo: { write: (line: string) => void written.push(line) },
    on: (event: string, told: (what: unknown) => void) => events.on(event, told),
    exit: (code: number) => void exits.push(code),
    signal: (signal: string) => events.emit(signal, signal),
    emit: (event: string, what: unknown) => events.emit(event, what),
    errors: () => errors.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

type Start = (life: Life<typeof processVariables>) => Promise<void>

const run = (host: ReturnType<typeof fakeHost>, start: Start, more: { stopWithinSeconds?: number } = {}) =>
  runProcess({ name: 'demo', variables: processVariables, start, host, ...more })

const forever = () => new Promise<void>(() => undefined)
const quiet = () => Promise.resolve()

test.each(['SIGTERM', 'SIGINT'])('%s stops what was started, the last one first, and exits 0', async (signal) => {
  const host = fakeHost()
  const order: string[] = []
  await run(host, ({ onStop }) => {
    for (const what of ['database', 'dispatcher', 'server']) onStop(what, () => void order.push(what))
    return quiet()
  })
  expect(host.exits).toEqual([])
  host.signal(signal)
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([0])
  expect(order).toEqual(['server', 'dispatcher', 'database'])
  expect(host.lines()).toMatchObject([{ msg: 'stopping', signal }, { msg: 'stopped' }])
})

test('SIGTERM lets a request in flight have its answer, and is not ready meanwhile', async () => {
  const host = fakeHost()
  const held: (() => void)[] = []
  let port = 0
  let readiness: AbortSignal | undefined
  await run(host, async ({ log, onStop, stopping }) => {
    readiness = stopping
    const app = createApp({ log, service: 'demo' })
    app.get('/slow', (_request, response) => void held.push(() => response.send('done')))
    const running = await listen({ app, host: '127.0.0.1', port: 0, log })
    onStop('server', () => running.close())
    port = running.port
  })
  const client = rawClient(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => held.length === 1)
  expect(readiness?.aborted).toBe(false)
  host.signal('SIGTERM')
  expect(readiness?.aborted).toBe(true)
  const late = rawClient(port)
  await until(late.closed)
  expect(host.exits).toEqual([])
  held[0]?.()
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([0])
  await until(client.closed)
  expect(client.received()).toContain('done')
})

test('what does not stop within the deadline is named, and the process exits 1', async () => {
  const host = fakeHost()
  await run(host, ({ onStop }) => (onStop('dispatcher', forever), quiet()), { stopWithinSeconds: 0.05 })
  host.signal('SIGTERM')
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([1])
  expect(host.lines().at(-1)).toMatchObject({ level: 'error', waitingFor: 'dispatcher' })
})

test('what fails to stop is logged, the rest is stopped all the same, and the process exits 1', async () => {
  const host = fakeHost()
  const stopped: string[] = []
  await run(host, ({ onStop }) => {
    onStop('database', () => void stopped.push('database'))
    onStop('server', () => Promise.reject(new Error('stuck')))
    return quiet()
  })
  host.signal('SIGTERM')
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([1])
  expect(stopped).toEqual(['database'])
  expect(host.lines()).toContainEqual(expect.objectContaining({ level: 'error', what: 'server' }))
})

test('the same Ctrl-C that comes twice is one; a later second signal exits at once', async () => {
  const host = fakeHost()
  await run(host, ({ onStop }) => (onStop('dispatcher', forever), quiet()))
  host.signal('SIGINT')
  host.signal('SIGINT')
  expect(host.exits).toEqual([])
  await until(() => host.signal('SIGINT') && host.exits.length > 0)
  expect(host.exits).toEqual([130])
  expect(host.lines().filter(({ msg }) => msg === 'stopping')).toHaveLength(1)
})

test('a signal during the start waits for it, then stops what it started', async () => {
  const host = fakeHost()
  const stopped: string[] = []
  let go: () => void = () => undefined
  const done = run(host, async ({ onStop }) => {
    await new Promise<void>((resolve) => (go = resolve))
    onStop('server', () => void stopped.push('server'))
  })
  host.signal('SIGTERM')
  go()
  await done
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([0])
  expect(stopped).toEqual(['server'])
})

test('a start that fails prints one message without secrets, stops what had started and exits 1', async () => {
  const host = fakeHost()
  const stopped: string[] = []
  await run(host, ({ onStop }) => {
    onStop('database', () => void stopped.push('database'))
    return Promise.reject(new Error('No database', { cause: new Error('postgres://me:hunter2@db does not answer') }))
  })
  expect(host.exits).toEqual([1])
  expect(stopped).toEqual(['database'])
  expect(host.errors()).toBe('demo cannot start: No database (postgres://me:***@db does not answer)\n')
})

test('a wrong environment prints one message and exits 1 before anything starts', async () => {
  const host = fakeHost({ LOG_LEVEL: 'loud' })
  let started = false
  await run(host, () => ((started = true), quiet()))
  expect({ exits: host.exits, started }).toEqual({ exits: [1], started: false })
  expect(host.errors()).toMatch(/^demo cannot start: The environment cannot be used:\n {2}LOG_LEVEL is "loud"/)
})

test.each(['uncaughtException', 'unhandledRejection'])('%s is one fatal line and exit 1', async (event) => {
  const host = fakeHost()
  await run(host, quiet)
  host.emit(event, new Error('impossible'))
  host.emit(event, new Error('and again'))
  expect(host.exits).toEqual([1])
  expect(host.lines()).toMatchObject([{ level: 'fatal', err: { message: 'impossible' } }])
})

test('an app gets its own variables with their types', async () => {
  const host = fakeHost({ REGION: 'za' })
  let region = ''
  await runProcess({
    name: 'demo',
    variables: { ...processVariables, REGION: str({ desc: 'a region' }) },
    start: ({ environment }) => ((region = environment.REGION), quiet()),
    host,
  })
  expect(region).toBe('za')
})
