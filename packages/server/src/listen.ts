import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refusalPace } from './admission/turns.ts'
import { hideFromClients, isForOperators } from './health.ts'
import {
  answerMalformed,
  answerRefused,
  type DescribeMalformed,
  malformedInText,
  refusedUnread,
} from './answer-malformed.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import { Connections } from './connections.ts'
import { arrivalsAccepted, backlog } from './event-loop.ts'
import { createServerFor } from './express-app.ts'
import type { Log } from './log.ts'
import { headerLinesMax, refusedHead } from './request-parts.ts'

/** Server that accepts connections. */
export interface Running {
  /** URL of the server on this machine, such as `http://127.0.0.1:8080`. */
  readonly url: string
  readonly port: number
  /**
   * Reads the requests that have already arrived, stops accepting connections, and closes idle ones. Waits for requests
   * in flight, whose responses contain `Connection: close`, and destroys the remaining connections after
   * `graceSeconds`. Resolves when all connections are closed; never rejects.
   */
  readonly close: () => Promise<void>
}

export interface ListenSettings {
  /** Express app, or any request listener that neither throws nor rejects. */
  readonly app: RequestListener
  readonly host: string
  /** Port to listen on; 0 for any free port. */
  readonly port: number
  /** Port that serves health and metrics instead of `port`; by default `port` serves them. */
  readonly adminPort?: number | undefined
  readonly log: Log
  /** Seconds that `close` waits for requests in flight; default 10. */
  readonly graceSeconds?: number
  readonly limits?: ConnectionLimits
  /** Clock for the `Date` of responses, in milliseconds since 1970; by default the clock of this machine. */
  readonly clock?: { now(): number }
  /** Returns the answer to malformed HTTP; by default one line of text. */
  readonly describeMalformed?: DescribeMalformed
}

const LIMITS = {
  // Twice the limit of `refusedHead`, so that Node still parses the path of a request that exceeds that limit (rulings
  // 1.31, 3.1).
  maxHeaderSize: 131_072,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000, // longer than the 60 s after which common load balancers drop an idle connection
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false, // `refusedHead` refuses such requests itself
  noDelay: true,
}
/**
 * Maximum number of bodies in too many chunks to refuse per second. A refusal costs 13 ms, because Node parses all data
 * that has already arrived. The number is limited because refused clients repeat their requests at once.
 */
const tooManyChunksPerSecond = 20
// Time after which a connection without traffic is destroyed. No handler is silent for that long.
const SILENCE_MS = 120_000

/**
 * Serves an app over HTTP. Malformed HTTP and requests without exactly one `Host` get 400; headers over 64 kB or 1000
 * lines get 431. Requests of one connection are processed one after the other. If the server cannot listen, throws an
 * Error that names the address and says what to do.
 */
export const listen = async (settings: ListenSettings): Promise<Running> => {
  const { app, host, port, adminPort, log, graceSeconds = 10 } = settings
  const server = createServerFor(app, LIMITS)
  server.timeout = SILENCE_MS
  server.maxHeadersCount = headerLinesMax + 1
  const drain = serve(server, settings)
  await bind(server, host, port)
  // If no file descriptor is free, a connection cannot be accepted. The server must go on in that case.
  server.on('error', (err) => log.error({ err }, 'cannot accept a connection'))
  const { address, port: actual } = server.address() as AddressInfo
  const url = `http://${reachable(address)}:${actual}`
  log.info({ url }, 'listening')
  const admin = adminPort === undefined ? undefined : await listenForOperators(app, host, adminPort).catch(stopServing)
  if (admin !== undefined) log.info({ adminPort }, 'serving health and metrics')
  async function stopServing(error: unknown): Promise<never> {
    await drain(0)
    throw error
  }
  async function close(): Promise<void> {
    await drain(graceSeconds * 1000)
    admin?.closeAllConnections()
    admin?.close()
  }
  let closed: Promise<void> | undefined
  return { url, port: actual, close: () => (closed ??= close()) }
}

/**
 * Starts a separate server for health and metrics. It is a plain server, because requests of the app have the
 * prototypes of the app's own server.
 */
async function listenForOperators(app: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer(LIMITS, (request, response) => {
    if (isForOperators(request.url)) app(request, response)
    else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('Health and metrics only.')
  })
  await bind(server, host, port, 'ADMIN_PORT')
  return server
}

/** Passes requests to the app. Returns the function that closes the server. */
const serve = (
  server: Server,
  { app, adminPort, log, limits, clock = Date, describeMalformed = malformedInText }: ListenSettings,
) => {
  const refuse = answerRefused(describeMalformed)
  const unread = refusedUnread(describeMalformed)
  const connections = new Connections(server, limits ?? {}, {
    tooMany: (response) => refuse(response, 503, 'Too many requests wait on this connection'),
    unread: () => unread(503, 'The process has too many connections'),
  })
  if (adminPort !== undefined) server.on('connection', hideFromClients)
  server.on('request', (request, response) => {
    const refused = refusedHead(request)
    connections.take(response, () => {
      dateBy(clock, response)
      if (refused === undefined) app(request, response)
      else refuse(response, ...refused)
    })
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    connections.take(response, () => {
      dateBy(clock, response)
      refuse(response, 417, 'The only expectation that can be met is 100-continue.')
    })
  })
  const pace = refusalPace({ perSecond: tooManyChunksPerSecond })
  server.on('clientError', answerMalformed({ connections, log, describe: describeMalformed, pace }))
  return async (graceMs: number): Promise<void> => {
    const breaksOffAt = performance.now() + graceMs
    await arrivalsAccepted(server, graceMs / 2)
    const deadline = setTimeout(() => {
      log.warn(connections.counts, 'requests were aborted because the time for the stop was over')
      server.closeAllConnections()
      connections.destroy()
    }, breaksOffAt - performance.now())
    pace.end()
    await connections.close()
    clearTimeout(deadline)
  }
}

/** Sets the header `Date` from `clock`. Without this, Node sets it from the clock of this machine. */
function dateBy(clock: { now(): number }, response: ServerResponse): void {
  const now = clock.now()
  if (Math.abs(now - Date.now()) > 1000) response.setHeader('Date', new Date(now).toUTCString())
}

const bind = (server: Server, host: string, port: number, setting: 'PORT' | 'ADMIN_PORT' = 'PORT') =>
  new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(cannotListen(host, port, setting, error))
    server.once('error', fail)
    server.listen(port, host, backlog, () => {
      server.off('error', fail)
      resolve()
    })
  })

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process uses this port. Stop it, or set PORT to a free one.',
  EACCES: 'this user may not use this port. Set PORT to 1024 or above.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one of its own, or 0.0.0.0 for all.',
  ENOTFOUND: 'this host name is not known. Set HOST to an address of this machine, or 0.0.0.0 for all.',
  EAI_AGAIN: 'this host name cannot be looked up. Set HOST to an address of this machine, or 0.0.0.0 for all.',
}

const cannotListen = (host: string, port: number, setting: string, error: NodeJS.ErrnoException): Error => {
  const advice = ADVICE[error.code ?? ''] ?? `${error.message}. Set HOST and PORT.`
  const toDo = advice.replace(/\bPORT\b/, setting)
  return new Error(`Cannot listen on ${bracketed(host)}:${port}: ${toDo}`, { cause: error })
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

const reachable = (address: string): string => {
  if (address === '0.0.0.0') return '127.0.0.1'
  return bracketed(address === '::' ? '::1' : address)
}
