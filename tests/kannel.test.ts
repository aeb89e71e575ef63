import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { freePorts } from './support/free-ports.ts'
import { startAllInOne, type RunningGateway } from './support/gateways.ts'
import { killLeftovers, root } from './support/process.ts'

// Runs Kannel as a client of the query-string interface. Its configuration is the documented one with the ports and
// paths of the test.
const isInstalled = ['bearerbox', 'smsbox'].every(
  (program) => spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0,
)
if (!isInstalled) process.stderr.write('NOTICE: Kannel is not tried here: bearerbox or smsbox is not installed\n')
const testWithKannel = isInstalled ? test : test.skip

let folder: string
let gateway: RunningGateway
const boxes: ChildProcess[] = []
const servers: Server[] = []
const requests: { to: string; text: string }[] = []
const answers: { to: string; text: string; answer: string }[] = []

const portOf = (server: NetServer): number => (server.address() as AddressInfo).port

beforeAll(async () => {
  if (!isInstalled) return
  folder = await mkdtemp(join(tmpdir(), 'gw-kannel-'))
  gateway = await startAllInOne()
}, 180_000)
afterAll(async () => {
  if (!isInstalled) return
  // Stops the boxes in reverse order, because the others connect to the box that was started first.
  for (const box of boxes.reverse()) await ended(box)
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) server.close()
  await gateway.stop()
  killLeftovers()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

const ended = (box: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    box.once('close', () => resolve())
    box.kill('SIGKILL')
    if (box.exitCode !== null || box.signalCode !== null) resolve()
  })

/**
 * Starts a server in front of the gateway. It refuses the first requests temporarily, as the gateway does without a
 * database or beyond a rate limit.
 */
async function refusingOnce(): Promise<Server> {
  const server = createHttpServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', gateway.aspUrl)
    const [to, text] = [searchParams.get('numbers') ?? '', searchParams.get('message') ?? '']
    const refusal = (
      [
        [503, 'Service unavailable'],
        [429, 'Too many requests'],
      ] as const
    )[requests.push({ to, text }) - 1]
    if (refusal !== undefined) {
      const [status, words] = refusal
      response.writeHead(status, { 'Retry-After': '1' }).end(`Error="${words}"`)
      return
    }
    void fetch(gateway.aspUrl + (request.url ?? '')).then(async (answered) => {
      const answer = await answered.text()
      answers.push({ to, text, answer })
      response.end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

testWithKannel(
  'the documented configuration sends plain and Unicode texts, tries again what is refused for now, and sees what is refused for good',
  async () => {
    const { key } = await openAccount(gateway.environment, 'kannel', 100)
    const between = await refusingOnce()
    servers.push(between)
    const [admin = 0, smsbox = 0, receiving = 0, sending = 0] = await freePorts(4)
    const config = (await readFile(join(root, 'docs/clients/kannel.conf'), 'utf8'))
      .replace('13000', String(admin))
      .replace('13001', String(smsbox))
      .replace('13002', String(receiving))
      .replace('13013', String(sending))
      .replace('127.0.0.1:8080', `127.0.0.1:${portOf(between)}`)
      .replace('gw_...', key)
      .replace('/var/spool/kannel', folder)
    const file = join(folder, 'kannel.conf')
    await writeFile(file, config)
    let printed = ''
    for (const program of ['bearerbox', 'smsbox']) {
      const box = spawn(program, ['-v', '0', file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      boxes.push(box)
      for (const stream of [box.stdout, box.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
      const ready = program === 'bearerbox' ? 'MAIN: Start-up done' : 'Connected to bearerbox'
      await until(() => printed.includes(ready), 20_000)
    }
    const send = async (to: string, parameters: Readonly<Record<string, string>>) => {
      const query = new URLSearchParams({ username: 'change-me', password: 'change-me', to, ...parameters })
      const response = await fetch(`http://127.0.0.1:${sending}/cgi-bin/sendsms?${query.toString()}`)
      expect([response.status, await response.text()]).toEqual([202, '0: Accepted for delivery'])
    }
    await send('27825550101', { text: 'Hello from Kannel' })
    await until(() => requests.length > 1, 30_000)
    await send('27825550102', { text: 'Здравствуйте', charset: 'UTF-8', coding: '2' })
    await send('12', { text: 'nobody' })
    await until(() => answers.length === 3 && printed.includes('Message not accepted'), 30_000)
    expect(answers.sort((a, b) => Number(a.to) - Number(b.to))).toEqual([
      { to: '12', text: 'nobody', answer: '12=BADDEST&' },
      { to: '27825550101', text: 'Hello from Kannel', answer: expect.stringMatching(/^27825550101=\d+&$/) as string },
      { to: '27825550102', text: 'Здравствуйте', answer: expect.stringMatching(/^27825550102=\d+&$/) as string },
    ])
  },
  120_000,
)
