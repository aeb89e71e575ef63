import { EventEmitter } from 'node:events'
import { str } from 'envalid'
import { rawClient } from '../testing/raw-client.ts'
import { until } from '../testing/until.ts'
import { createApp } from './express-app.ts'
import { listen } from './listen.ts'
import { type ProcessContext, runProcess } from './run-process.ts'
import { processVariables, serverVariables } from './variables.ts'
import { release, version } from './version.ts'

/** Returns a fake process that accepts signals and records how it would have ended. */
const fakeHost = (
  env: Record<string, string> = {},
  hasTerminal = false,
  isTerminalOpen = false,
  args: string[] = [],
) => {
  const events = new EventEmitter()
  const exits: number[] = []
  const written: string[] = []
  const errors: string[] = []
  const printed: string[] = []
  return {
    env,
    args,
    stdout: { write: (text: string) => printed.push(text) },
    printed: () => printed.join(''),
    hasTerminal,
    isTerminalOpen: () => isTerminalOpen,
    exits,
    stderr: { write: (text: string) => errors.push(text) },
    logTo: { write: (line: string) => void written.push(line) },
    on: (event: string, listener: (value: unknown) => void) => events.on(event, listener),
    exit: (code: number) => void exits.push(code),
    signal: (signal: string) => events.emit(signal, signal),
    emit: (event: string, argument: unknown) => events.emit(event, argument),
    errors: () => errors.join(''),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

type Start = (context: ProcessContext<typeof processVariables>) => Promise<void>

const run = (host: ReturnType<typeof fakeHost>, start: Start, more: { stopWithinSeconds?: number } = {}) =>
  runProcess({ name: 'demo', variables: processVariables, start, host, ...more })

const forever = () => new Promise<void>(() => undefined)
const quiet = () => Promise.resolve()

test.each(['SIGTERM', 'SIGINT'])('%s stops the started parts in reverse order and exits 0', async (signal) => {
  const host = fakeHost()
  const order: string[] = []
  await run(host, ({ onStop }) => {
    for (const part of ['database', 'dispatcher', 'server']) onStop(part, () => void order.push(part))
    return quiet()
  })
  expect(host.exits).toEqual([])
  host.signal(signal)
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([0])
  expect(order).toEqual(['server', 'dispatcher', 'database'])
  expect(host.lines()).toMatchObject([
    { msg: 'starting' },
    { msg: 'started' },
    { msg: 'stopping', signal },
    { msg: 'stopped' },
  ])
})

test('the first line has the name, the version and the version of Node', async () => {
  const host = fakeHost()
  await run(host, ({ log }) => (log.info('of the start'), quiet()))
  const [first] = host.lines()
  expect(first).toMatchObject({ name: 'demo', ...release, node: process.versions.node, msg: 'starting' })
  expect(version).toMatch(/^\d+\.\d+\.\d+/)
})

test('after SIGTERM a running request is answered, and the process is not ready', async () => {
  const host = fakeHost()
  const waiting: (() => void)[] = []
  let port = 0
  let readiness: AbortSignal | undefined
  await run(host, async ({ log, onStop, stopping }) => {
    readiness = stopping
    const app = createApp({ log, service: 'demo' })
    app.get('/slow', (_request, response) => void waiting.push(() => response.send('done')))
    const running = await listen({ app, host: '127.0.0.1', port: 0, log })
    onStop('server', () => running.close())
    port = running.port
  })
  const client = rawClient(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => waiting.length === 1)
  expect(readiness?.aborted).toBe(false)
  host.signal('SIGTERM')
  expect(readiness?.aborted).toBe(true)
  const late = rawClient(port)
  await until(late.closed)
  expect(host.exits).toEqual([])
  waiting[0]?.()
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([0])
  await until(client.closed)
  expect(client.received()).toContain('done')
})

test.each([
  [
    ['--help'],
    0,
    /^Starts demo, .*\n {2}DATABASE_URL +the address of a PostgreSQL, .*\n {2}DATA_DIR +a folder \(\.\/data\)\n$/s,
    /^$/,
  ],
  [['-h'], 0, /^Starts demo/, /^$/],
  [['--version'], 0, /^\d+\.\d+\.\d+(?: \([0-9a-f]{12}\))?\n$/, /^$/],
  [
    ['--prot', '8081'],
    2,
    /^$/,
    /^demo does not start: it takes no arguments, and was given --prot 8081\. .*--help lists them\.\n$/,
  ],
  [['start'], 2, /^$/, /was given start/],
  [['--help', 'x'], 2, /^$/, /was given --help x/],
])('with the arguments %j nothing is started, and the exit code is %s', async (args, code, out, err) => {
  const host = fakeHost({}, false, false, args)
  let starts = 0
  await run(host, () => (starts++, quiet()))
  expect([starts, host.exits, host.lines()]).toEqual([0, [code], []])
  expect(host.printed()).toMatch(out)
  expect(host.errors()).toMatch(err)
})

test('a start that waits for something impossible ends at once with 1 and a reason', async () => {
  const host = fakeHost()
  const stopped: string[] = []
  const running = run(host, ({ onStop }) => (onStop('database', () => void stopped.push('database')), forever()))
  host.emit('beforeExit', 0)
  await running
  expect([host.exits, stopped]).toEqual([[1], ['database']])
  expect(host.errors()).toMatch(/^demo cannot start: the start waits for something that can no longer happen/)
  host.emit('beforeExit', 0)
  expect(host.exits).toEqual([1])
})

test('a stop step that exceeds the deadline is named, and the process exits 1', async () => {
  const host = fakeHost()
  await run(host, ({ onStop }) => (onStop('dispatcher', forever), quiet()), { stopWithinSeconds: 0.05 })
  host.signal('SIGTERM')
  await until(() => host.exits.length > 0)
  expect(host.exits).toEqual([1])
  expect(host.lines().at(-1)).toMatchObject({ level: 'error', waitingFor: 'dispatcher' })
})

test('a stop step that fails is logged, the other steps run, and the process exits 1', async () => {
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

test('two copies of one Ctrl-C count as one; a later second signal exits at once', async () => {
  const host = fakeHost()
  await run(host, ({ onStop }) => (onStop('dispatcher', forever), quiet()))
  host.signal('SIGINT')
  host.signal('SIGINT')
  expect(host.exits).toEqual([])
  await until(() => host.signal('SIGINT') && host.exits.length > 0)
  expect(host.exits).toEqual([130])
  expect(host.lines().filter(({ msg }) => msg === 'stopping')).toHaveLength(1)
})

test('after a signal during the start, the start continues and then its parts are stopped', async () => {
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

test('a signal during the start ends it at its next onStop', async () => {
  const host = fakeHost()
  const stopped: string[] = []
  let [go, wentOn]: [() => void, boolean] = [() => undefined, false]
  const done = run(host, async ({ onStop }) => {
    await new Promise<void>((resolve) => (go = resolve))
    onStop('database', () => void stopped.push('database'))
    wentOn = true
  })
  host.signal('SIGTERM')
  go()
  await done
  await until(() => host.exits.length > 0)
  expect({ exits: host.exits, stopped, wentOn, errors: host.errors() }).toEqual({
    exits: [0],
    stopped: ['database'],
    wentOn: false,
    errors: '',
  })
})

test('a hanging start is ended by closing its resources', async () => {
  const host = fakeHost()
  const stopped: string[] = []
  const done = run(host, async ({ onStop }) => {
    let close: (problem: Error) => void = () => undefined
    const hangs = new Promise<void>((_, reject) => (close = reject))
    onStop('connections', () => {
      stopped.push('connections')
      close(new Error('closed'))
    })
    await hangs
  })
  host.signal('SIGTERM')
  await done
  await until(() => host.exits.length > 0)
  expect({ exits: host.exits, stopped, errors: host.errors() }).toEqual({
    exits: [0],
    stopped: ['connections'],
    errors: '',
  })
})

describe('with DRAIN_SECONDS', () => {
  const runServer = (host: ReturnType<typeof fakeHost>, start: Start) =>
    runProcess({ name: 'demo', variables: serverVariables(0), start, host, stopWithinSeconds: 0.5 })

  test('a signal is logged first, and parts are stopped only after the configured time, when the deadline begins', async () => {
    const host = fakeHost({ DRAIN_SECONDS: '1' })
    let stopping: AbortSignal | undefined
    let stoppedAt: number | undefined
    await runServer(host, (context) => {
      stopping = context.stopping
      context.onStop('server', () => void (stoppedAt = performance.now()))
      return quiet()
    })
    const signalledAt = performance.now()
    host.signal('SIGTERM')
    expect(stopping?.aborted).toBe(true)
    await until(() => host.exits.length > 0)
    expect(host.exits).toEqual([0])
    expect((stoppedAt ?? 0) - signalledAt).toBeGreaterThanOrEqual(990)
    expect(host.lines()).toMatchObject([
      { msg: 'starting' },
      { msg: 'started' },
      { msg: 'stopping' },
      { msg: 'no longer ready; still serving requests', seconds: 1 },
      { msg: 'stopped' },
    ])
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('a second signal (%s) ends the wait and stops in order, a third one ends at once', async (signal, code) => {
    const host = fakeHost({ DRAIN_SECONDS: '3600' })
    let stops = 0
    await runProcess({
      name: 'demo',
      variables: serverVariables(0),
      start: ({ onStop }) => (onStop('server', () => (stops++, forever())), quiet()),
      host,
    })
    host.signal('SIGTERM')
    host.signal(signal)
    expect(stops).toBe(0)
    await until(() => {
      if (stops === 0) host.signal(signal)
      return stops === 1
    })
    expect(host.exits).toEqual([])
    await until(() => host.signal(signal) && host.exits.length > 0)
    expect(host.exits).toEqual([code])
  })

  test('a process that is still starting does not wait', async () => {
    const host = fakeHost({ DRAIN_SECONDS: '3600' })
    let go: () => void = () => undefined
    const done = runServer(host, () => new Promise<void>((resolve) => (go = resolve)))
    host.signal('SIGTERM')
    go()
    await done
    await until(() => host.exits.length > 0)
    expect(host.exits).toEqual([0])
  })
})

describe('SIGHUP', () => {
  test('stops a process whose terminal was closed in order, once', async () => {
    const host = fakeHost({}, true)
    const stopped: string[] = []
    await run(host, ({ onStop }) => (onStop('server', () => void stopped.push('server')), quiet()))
    host.signal('SIGHUP')
    host.signal('SIGHUP')
    await until(() => host.exits.length > 0)
    expect({ exits: host.exits, stopped }).toEqual({ exits: [0], stopped: ['server'] })
  })

  test('during the stop changes nothing, and a signal after it counts as the first', async () => {
    const host = fakeHost({}, true)
    let end: () => void = () => undefined
    await run(host, ({ onStop }) => (onStop('server', () => new Promise<void>((resolve) => (end = resolve))), quiet()))
    host.signal('SIGHUP')
    await until(() => host.lines().some(({ msg }) => msg === 'stopping'))
    host.signal('SIGTERM')
    host.signal('SIGHUP')
    expect(host.exits).toEqual([])
    await new Promise((resolve) => setImmediate(resolve))
    end()
    await until(() => host.exits.length > 0)
    expect(host.exits).toEqual([0])
  })

  test('has no effect on a process without a terminal, which logs that', async () => {
    const host = fakeHost()
    const stopped: string[] = []
    await run(host, ({ onStop }) => (onStop('server', () => void stopped.push('server')), quiet()))
    host.signal('SIGHUP')
    expect(host.lines().at(-1)).toMatchObject({ level: 'info', msg: 'SIGHUP is ignored: this process has no terminal' })
    expect({ exits: host.exits, stopped }).toEqual({ exits: [], stopped: [] })
  })

  test.each([
    ['without a terminal', false, false],
    ['whose terminal is there', true, true],
  ])('runs the reload of a process %s until it stops', async (_, hasTerminal, isTerminalOpen) => {
    const host = fakeHost({}, hasTerminal, isTerminalOpen)
    let reloads = 0
    await run(host, ({ onHangUp }) => (onHangUp(() => reloads++), quiet()))
    host.signal('SIGHUP')
    host.signal('SIGHUP')
    expect(reloads).toBe(2)
    host.signal('SIGTERM')
    host.signal('SIGHUP')
    await until(() => host.exits.length > 0)
    expect({ reloads, exits: host.exits }).toEqual({ reloads: 2, exits: [0] })
  })

  test('stops a process whose terminal was closed, even if it has a reload', async () => {
    const host = fakeHost({}, true, false)
    let reloads = 0
    await run(host, ({ onHangUp }) => (onHangUp(() => reloads++), quiet()))
    host.signal('SIGHUP')
    await until(() => host.exits.length > 0)
    expect({ reloads, exits: host.exits }).toEqual({ reloads: 0, exits: [0] })
  })
})

test('a start that fails prints one message without secrets, stops its started parts and exits 1', async () => {
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
  expect(host.lines()).toMatchObject([
    { msg: 'starting' },
    { msg: 'started' },
    { level: 'fatal', err: { message: 'impossible' } },
  ])
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
