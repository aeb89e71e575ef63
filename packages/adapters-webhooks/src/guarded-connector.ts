import { request as requestPlain, type RequestOptions } from 'node:http'
import { request as requestSecure } from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { loopbackAddresses, namesLoopback, PushProblem } from './endpoint.ts'
import type { ResolveName } from './resolve-name.ts'

/** Starts a connection to an IP address. */
export type Dial = (address: string, port: number) => Socket

export interface ConnectorSettings {
  readonly mayReach: (address: string) => boolean
  readonly resolve: ResolveName
  readonly dial: Dial
  readonly proxy: EgressProxy | undefined
  /** Time limit for name resolution, TCP connection and TLS handshake together. */
  readonly milliseconds: number
  /** Certificate authorities in PEM that replace the authorities that Node trusts. For tests. */
  readonly ca: string | undefined
  /** Aborts connection attempts that are under way. */
  readonly stopping: AbortSignal
}

/** Maximum number of addresses of one name to try. */
const addressesMax = 4

export const dialTcp: Dial = (address, port) => connectTcp({ host: address, port, autoSelectFamily: false })

/**
 * Creates an undici connector that connects only to addresses that `mayReach` allows. A name is resolved once, all of
 * its addresses are checked, and the connection goes to one of them; TLS verifies the name. A literal address is
 * checked as well. Fails with a PushProblem.
 */
export const guardedConnector =
  (settings: ConnectorSettings): buildConnector.connector =>
  ({ hostname, port, protocol }, callback) => {
    const secure = protocol === 'https:'
    connect(hostname.replace(/\.$/, ''), Number(port) || (secure ? 443 : 80), secure, settings).then(
      (socket) => callback(null, withoutContinue(socket)),
      (problem: unknown) => callback(problem as Error, null),
    )
  }

async function connect(host: string, port: number, secure: boolean, settings: ConnectorSettings): Promise<Socket> {
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(new PushProblem('timeout')), settings.milliseconds)
  const stop = (): void => ended.abort(new PushProblem('stopped'))
  settings.stopping.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([open(host, port, secure, settings, ended.signal), rejectionBy(ended.signal)])
  } catch (problem) {
    throw ended.signal.aborted ? ended.signal.reason : problem
  } finally {
    clearTimeout(timer)
    settings.stopping.removeEventListener('abort', stop)
  }
}

const rejectionBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as PushProblem), { once: true })
  })

async function open(host: string, port: number, secure: boolean, settings: ConnectorSettings, signal: AbortSignal) {
  const socket = await openSocket(host, port, settings, signal)
  return secure ? startTls(socket, host, settings.ca, signal) : socket
}

async function openSocket(
  host: string,
  port: number,
  settings: ConnectorSettings,
  signal: AbortSignal,
): Promise<Socket> {
  const { proxy, dial } = settings
  if (proxy?.resolvesNames === true && isIP(host) === 0) return connectByProxy(proxy, host, port, signal)
  const addresses = await addressesOf(host, settings, signal)
  let problem: unknown
  for (const address of addresses) {
    signal.throwIfAborted()
    try {
      return await (proxy ? connectByProxy(proxy, address, port, signal) : opened(dial(address, port), signal))
    } catch (failed) {
      problem = failed
    }
  }
  throw problem
}

/**
 * Returns up to four addresses of `host`, IPv4 first, in a random order within each family. Throws a PushProblem if one
 * of its addresses is internal.
 */
async function addressesOf(
  host: string,
  { mayReach, resolve }: ConnectorSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const all = namesLoopback(host)
    ? loopbackAddresses.filter(mayReach)
    : isIP(host) === 0
      ? await resolve(host, signal)
      : [host]
  if (all.length === 0 || !all.every(mayReach)) throw new PushProblem('internal-address')
  const ranked = all.map((address) => ({ address, rank: isIP(address) + Math.random() }))
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, addressesMax)
    .map(({ address }) => address)
}

const opened = (socket: Socket, signal: AbortSignal): Promise<Socket> =>
  settled(socket, 'connect', 'connection-failed', signal)

const startTls = (socket: Socket, host: string, ca: string | undefined, signal: AbortSignal): Promise<Socket> => {
  const tls = connectTls({
    socket,
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  })
  return settled(tls, 'secureConnect', 'tls-failed', signal)
}

/** Resolves with the socket after `event`. Destroys it and rejects if an error, a close or an abort comes first. */
const settled = <S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  failure: 'connection-failed' | 'tls-failed',
  signal: AbortSignal,
): Promise<S> =>
  new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      socket.destroy()
      reject(new PushProblem(failure, cause))
    }
    const abandon = (): void => fail()
    const done = (): void => {
      socket.off('close', abandon).off('error', fail)
      signal.removeEventListener('abort', abandon)
      resolve(socket.setNoDelay(true).setKeepAlive(true, 60_000))
    }
    socket.once(event, done).once('error', fail).once('close', abandon)
    if (signal.aborted) abandon()
    else signal.addEventListener('abort', abandon, { once: true })
  })

export interface EgressProxy {
  /** URL of the proxy, `http://` or `https://`, with user and password if the proxy requires them. */
  readonly url: string
  /** If true, the proxy receives host names and checks their addresses. If false, it receives checked addresses. */
  readonly resolvesNames: boolean
}

/**
 * Opens a tunnel through a proxy with CONNECT, also for plain http. Rejects with a PushProblem if the proxy refuses.
 */
const connectByProxy = (
  { url }: Pick<EgressProxy, 'url'>,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const refuse = (cause?: unknown): void => reject(new PushProblem('connection-failed', cause))
    const proxy = new URL(url)
    const request = (proxy.protocol === 'https:' ? requestSecure : requestPlain)(
      connectRequest(proxy, host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, signal),
    )
    request.on('error', refuse)
    request.on('response', (response) => {
      response.destroy()
      refuse()
    })
    request.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode >= 200 && statusCode <= 299 && head.length === 0) resolve(socket)
      else {
        socket.destroy()
        refuse()
      }
    })
    request.end()
  })

function connectRequest({ hostname, port, username, password }: URL, to: string, signal: AbortSignal): RequestOptions {
  const user = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  return {
    method: 'CONNECT',
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port }),
    path: to,
    headers: { host: to, ...(username !== '' && { 'proxy-authorization': `Basic ${user}` }) },
    agent: false,
    signal,
  }
}

const beginning = Buffer.from('HTTP/1.1 100 ')
const headEnd = '\r\n\r\n'
/** Maximum length of an interim response. A longer one is passed to undici's parser, which refuses it. */
const headBytesMax = 16 * 1024

/**
 * Returns the socket with interim responses `100 Continue` removed from its data. Some receivers send them without
 * being asked; a client must ignore them (RFC 9110, 15.2), but undici closes the connection. The removal relies on
 * undici, which reads with `read()` and writes a request before the response arrives.
 */
function withoutContinue(socket: Socket): Socket {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)]
  let isAwaited = true
  let buffered: Buffer = Buffer.alloc(0)

  /** Returns the data after the interim responses, or undefined if the data may be the start of one. */
  function rest(): Buffer | undefined {
    while (buffered.subarray(0, beginning.length).equals(beginning)) {
      const end = buffered.indexOf(headEnd)
      if (end === -1 || end > headBytesMax) return buffered.length > headBytesMax ? buffered : undefined
      buffered = buffered.subarray(end + headEnd.length)
    }
    return beginning.subarray(0, buffered.length).equals(buffered) ? undefined : buffered
  }

  socket.read = (size?: number): unknown => {
    for (;;) {
      const chunk = read(size) as Buffer | null
      if (chunk === null || !isAwaited) return chunk
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      const found = rest()
      if (found === undefined) continue
      isAwaited = false
      buffered = Buffer.alloc(0)
      return found
    }
  }
  socket.write = ((...args: Parameters<Socket['write']>) => {
    isAwaited = true
    return write(...args)
  }) as Socket['write']
  return socket
}
