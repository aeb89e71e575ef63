import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { randomBytes } from 'node:crypto'
import type { AddressInfo, Socket } from 'node:net'
import { callbackSender } from './callback-sender.ts'
import { serveHttpControl } from './control.ts'
import { httpDeliveries } from './deliveries.ts'
import { httpJournal } from './journal.ts'
import { MessageDecisions } from './decisions.ts'
import { httpOutcomeOf } from './outcomes.ts'
import { canSign, owedMessages } from './owed.ts'
import { httpPersonality } from './personalities.ts'
import { httpProviders } from './providers/index.ts'
import type { ProviderRequest } from './providers/provider.ts'
import { telnyxPublicKey } from './providers/telnyx.ts'
import type { HttpProviderServer, HttpProviderSettings, HttpProviderStatus } from './settings.ts'

const bodyBytesMax = 1 << 20

/** Starts a simulated provider. */
export async function startHttpProvider(settings: HttpProviderSettings): Promise<HttpProviderServer> {
  const { now = () => Date.now() } = settings
  const format = httpProviders[settings.provider]
  const secrets = { ...format.secrets, ...settings.secrets }
  let name = settings.personality ?? 'default'
  let current = httpPersonality(name, settings.changes)
  const journal = httpJournal(settings.journalFile, settings.journalEntriesMax ?? 100_000)
  const sender = callbackSender(settings.callbackWindow ?? 100, () => current.retryDelay)
  const nextId = idsFrom(now())
  const shared = { format, secrets, journal, now, nextId, personality: () => current }
  const deliveries = httpDeliveries({ ...shared, callbackUrl: settings.callbackUrl, sender })
  const decisions = new MessageDecisions({ ...shared, expected: settings.secrets ?? {}, deliveries })
  const sockets = new Set<Socket>()
  let [waiting, windowMax] = [0, 0]

  const server = serverFor(settings, (request, response) => {
    windowMax = Math.max(windowMax, ++waiting)
    response.once('close', () => waiting--)
    read(request, (body) => decisions.decide(requestOf(request, body), response))
  })
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.once('close', () => sockets.delete(socket))
  })
  const owed = owedMessages(settings.journalFile).filter((message) => canSign(format, message, secrets, now()))
  const port = await listen(server, settings.port ?? 0, settings.host ?? '127.0.0.1')
  for (const message of owed) void deliveries.report(message, httpOutcomeOf(message.to, current.faultsByNumber))

  const status = (): HttpProviderStatus => ({
    ...{ provider: settings.provider, personality: name, messages: decisions.counts(), connections: sockets.size },
    ...{ windowMax, callbackAnswers: sender.answers(), callbacksWaiting: sender.waiting() },
    ...('seed' in secrets && { publicKey: telnyxPublicKey(secrets.seed) }),
  })
  const resetConnections = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  const provider = {
    url: `${settings.tls === undefined ? 'http' : 'https'}://${settings.host ?? '127.0.0.1'}:${port}`,
    port,
    journal: (count?: number) => journal.entries(count),
    status,
    inject: (arrival: Parameters<HttpProviderServer['inject']>[0]) => deliveries.reply(arrival, {}),
    become(next: string, changes?: Readonly<Record<string, unknown>>) {
      current = httpPersonality(next, changes)
      name = next
    },
    resetConnections,
  }
  const { controlPort } = settings
  const control = controlPort === undefined ? undefined : await serveHttpControl(provider, controlPort)
  return {
    ...provider,
    controlPort: control?.port,
    async close() {
      sender.close()
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await Promise.all([closed, control?.close()])
      journal.close()
    },
  }
}

function serverFor(
  { tls }: HttpProviderSettings,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  return tls === undefined ? createServer(handle) : createTlsServer(tls, handle)
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port
}

/** Reads a whole body. Resets the connection if the body is too long. */
function read(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > bodyBytesMax) request.socket.resetAndDestroy()
    else chunks.push(chunk)
  })
  request.on('end', () => done(Buffer.concat(chunks).toString('utf8')))
  request.on('error', () => undefined)
}

function requestOf({ method = '', url = '/', headers }: IncomingMessage, body: string): ProviderRequest {
  const at = url.indexOf('?')
  const path = at < 0 ? url : url.slice(0, at)
  return { method, path, query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)), headers, body }
}

/**
 * Returns a function that makes ids of 32 hexadecimal digits. The last 11 count from a number that depends on the time
 * of the start, so that no id is made twice unless the clock is set back.
 */
function idsFrom(start: number): () => string {
  const run = randomBytes(11).toString('hex').slice(0, 21)
  let next = start * 8
  return () => run + (next++).toString(16).padStart(11, '0')
}
