import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { connectByProxy, type EgressProxy } from './egress-proxy.ts'
import { loopbackAddresses, namesLoopback } from './parse-endpoint.ts'
import { PushProblem } from './push-problem.ts'
import type { ResolveName } from './resolve-name.ts'
import { withoutContinue } from './without-continue.ts'

/** Starts a connection to an IP address. */
export type Dial = (address: string, port: number) => Socket

export interface ConnectorSettings {
  readonly mayReach: (address: string) => boolean
  readonly resolve: ResolveName
  readonly dial: Dial
  readonly proxy: EgressProxy | undefined
  /** For all of it: the name, the connection, TLS. */
  readonly milliseconds: number
  /** Authorities in PEM beside those that node trusts, for tests. */
  readonly ca: string | undefined
  /** Ends what is being connected. */
  readonly stopping: AbortSignal
}

/** So many addresses of a name are tried within the time. */
const addressesMax = 4

export const dialTcp: Dial = (address, port) => connectTcp({ host: address, port, autoSelectFamily: false })

/**
 * Connects to nothing but addresses that may be reached: a name is resolved once, all of its addresses are checked, and the
 * connection goes to one of them, with the name for TLS. An address in place of a name is checked as well. Fails with a PushProblem.
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

/** Some that may be reached, those of IPv4 first, each time in another order. One that may not refuses them all. */
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
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  })
  return settled(tls, 'secureConnect', 'tls-failed', signal)
}

/** The socket once `event` comes; destroyed if anything else comes first. */
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
    const leave = (): void => fail()
    const done = (): void => {
      socket.off('close', leave).off('error', fail)
      signal.removeEventListener('abort', leave)
      resolve(socket.setNoDelay(true).setKeepAlive(true, 60_000))
    }
    socket.once(event, done).once('error', fail).once('close', leave)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
