import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './client-network.ts'
import { newRequestId, requestIdHeader } from './request-id.ts'

export interface ConnectionLimits {
  /** Connections of this process; fewer where the operating system allows fewer open files. Default 4000. */
  readonly connectionsMax?: number
  /** Connections from one network (/24, /64), but never more than half of all. Default 2000. */
  readonly connectionsPerNetworkMax?: number
  /** Whose connections do not count for their network: those of proxies. Nobody's if not given. */
  readonly isProxy?: (address: string) => boolean
}

/** Files for the database, the log and whatever else a process opens. */
const filesReserved = 150
const busy = () =>
  `HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n` +
  `${requestIdHeader}: ${newRequestId()}\r\n\r\n`
const lingerMs = 1000
const lingeringMax = 50

/**
 * Answers connections beyond the limits with 503 and closes them, before any request of theirs is worked on. Returns whether a
 * connection was refused: its requests are nobody's then.
 */
export function limitConnections(server: Server, limits: ConnectionLimits = {}): (socket: Socket) => boolean {
  const { connectionsMax = 4000, connectionsPerNetworkMax = 2000, isProxy = () => false } = limits
  const allMax = Math.max(1, Math.min(connectionsMax, openFilesMax() - filesReserved))
  const networkMax = Math.max(1, Math.min(connectionsPerNetworkMax, Math.ceil(allMax / 2)))
  const perNetwork = new Map<string, number>()
  const refused = new WeakSet<Socket>()
  let all = 0
  let lingering = 0

  function refuse(socket: Socket): void {
    refused.add(socket)
    if (lingering >= lingeringMax) return void socket.destroy()
    lingering++
    socket.end(busy())
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => {
      clearTimeout(timer)
      lingering--
    })
  }

  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    const network = isProxy(address) ? undefined : networkOf(address)
    const ofNetwork = network === undefined ? 0 : (perNetwork.get(network) ?? 0)
    if (all >= allMax || ofNetwork >= networkMax) {
      refuse(socket)
      return
    }
    all++
    if (network !== undefined) perNetwork.set(network, ofNetwork + 1)
    socket.once('close', () => {
      all--
      if (network === undefined) return
      const left = (perNetwork.get(network) ?? 1) - 1
      if (left === 0) perNetwork.delete(network)
      else perNetwork.set(network, left)
    })
  })
  return (socket) => refused.has(socket)
}

/** Infinity where the operating system does not say. */
function openFilesMax(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
