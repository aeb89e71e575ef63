import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '@gateway/core/testing'
import { bound, type Esme } from '../testing/esme.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import type { Smsc } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const started: (ChildProcess | Esme)[] = []
afterEach(() => {
  for (const each of started.splice(0)) {
    if ('close' in each) each.close()
    else each.kill('SIGKILL')
  }
})

interface Running {
  readonly process: ChildProcess
  readonly port: number
  readonly control: string
}

async function run(...args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [main, '--port', '0', '--control-port', '0', ...args])
  started.push(child)
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await until(() => printed.includes('\n'))
  const [, port, control] = /^SMPP on 127\.0\.0\.1:(\d+), control on (http:\S+)\n/.exec(printed) ?? [printed]
  return { process: child, port: Number(port), control: control ?? '' }
}

const send = (url: string, method: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

interface Line {
  readonly event: string
  readonly command?: string
  readonly sequence?: number
}

test('the journal of a killed server has every response that was sent, after its request', async () => {
  const path = join(await temporaryFolder(), 'journal.jsonl')
  const smsc = await run('--journal', path, '--set', 'receiptDelay=0')
  const esme = await bound(smsc.port)
  started.push(esme)
  for (let turn = 0; turn < 40; turn++) esme.submit(...Array.from({ length: 25 }, (_, at) => `2782555${turn}${at}01`))
  await until(() => esme.responses().length > 300)
  smsc.process.kill('SIGKILL')
  await once(smsc.process, 'exit')
  await until(() => esme.isClosed)
  const whole = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  const lines = whole.map((line) => JSON.parse(line) as Line)
  const positionOf = (event: string, command: string) =>
    new Map(
      lines.flatMap((line, at) => (line.event === event && line.command === command ? [[line.sequence, at]] : [])),
    )
  const received = positionOf('received', 'submit_sm')
  const answered = positionOf('sent', 'submit_sm_resp')
  for (const { sequence } of esme.responses()) {
    expect(answered.get(sequence)).toBeGreaterThan(received.get(sequence) ?? Infinity)
  }
  expect(whole.join('')).not.toContain('secret')
})

test('the personality is switched and arrivals are injected over HTTP, and by command', async () => {
  const smsc = await run()
  const esme = await bound(smsc.port)
  started.push(esme)
  const arrival = { from: '27825550101', to: '12025550100', text: 'x'.repeat(200), order: 'descending' }
  const answer = await send(`${smsc.control}/arrivals`, 'POST', arrival)
  expect([answer.status, await answer.json()]).toEqual([202, { parts: 2 }])
  const command = spawn(process.execPath, [main, 'arrive', '--control-port', new URL(smsc.control).port,
    '--from', '27825550102', '--to', '12025550100', '--text', 'Hi']) // prettier-ignore
  started.push(command)
  expect(await once(command, 'exit')).toEqual([0, null])
  await until(() => esme.delivered().length === 3)
  expect(esme.delivered().map(({ shortMessage }) => shortMessage[5])).toEqual([2, 1, undefined])
  const became = await send(`${smsc.control}/personality`, 'PUT', { name: 'slow', answersPerSecond: 7 })
  expect(await became.json()).toMatchObject({ personality: 'slow', links: [{ systemId: 'me' }] })
  const journal = (await (await fetch(`${smsc.control}/journal?latest=2`)).json()) as Line[]
  expect(journal.map((line) => line.command)).toContain('deliver_sm_resp')
  await send(`${smsc.control}/close-links`, 'POST', {})
  await until(() => esme.isClosed)
})

test.each([
  [
    'a server whose control port is in use',
    (usedPort: string) => ['--port', '0', '--control-port', usedPort],
    'in use',
  ],
  ['a server whose port is in use', (usedPort: string) => ['--port', usedPort, '--control-port', '0'], 'in use'],
  [
    'a command that no server hears',
    () => ['become', 'slow', '--control-port', '1'],
    'No gateway-smsc answers on port 1',
  ],
])('%s ends with 1 and a sentence', async (_, args, words) => {
  const other = await run()
  const child = spawn(process.execPath, [main, ...args(new URL(other.control).port)])
  started.push(child)
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(printed).toContain(words)
})

test.each([
  [['--bogus'], /^Unknown option '--bogus'\. See 'gateway-smsc --help'\.\n$/],
  [['--port'], /^Option '--port <value>' argument missing\. See/],
  [['--port', 'many'], /^"many" is not a whole number\. See/],
  [['--personality', 'mean'], /^There is no personality "mean"; there are .*\. See/],
  [['--cert', 'x'], /^TLS needs --cert and --key\. See/],
  [['arrive', '--from', '1'], /^arrive needs --from, --to and --text\. See/],
  [['dance'], /^gateway-smsc \[--port 2775\]/],
])('called with %j it ends with 2, and says why', async (args, words) => {
  const child = spawn(process.execPath, [main, ...args])
  started.push(child)
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  expect(await once(child, 'close')).toEqual([2, null])
  expect(printed).toMatch(words)
})

describe('requests that HTTP refuses', () => {
  let shared: Smsc
  beforeAll(async () => (shared = await startSmsc({ controlPort: 0 })))
  afterAll(() => shared.close())

  test.each([
    ['PUT', '/personality', { name: 'mean' }, {}, 400, 'There is no personality'],
    ['PUT', '/personality', { name: 'slow', speed: 1 }, {}, 400, 'no field'],
    ['POST', '/arrivals', { from: '1' }, {}, 400, 'to must be a text'],
    ['POST', '/arrivals', { from: '1', to: '2', parts: 'many' }, {}, 400, 'parts cannot be'],
    [
      'POST',
      '/arrivals',
      { from: '1', to: '2', text: '' },
      { 'content-type': 'text/plain' },
      400,
      'Send application/json',
    ],
    ['POST', '/nothing', {}, {}, 404, 'Expected GET /status'],
  ])('%s %s of %j with %j: %i', async (method, path, body, headers, status, words) => {
    const answer = await send(`http://127.0.0.1:${shared.controlPort ?? 0}${path}`, method, body, headers)
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(words)])
  })

  test('a request for another host is refused, such as one of a browser page after DNS rebinding', async () => {
    const sent = request({
      port: shared.controlPort,
      host: '127.0.0.1',
      path: '/status',
      headers: { host: 'example.org' },
    }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(403)
  })
})
