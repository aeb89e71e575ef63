import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from './client-address.ts'

export interface ConnectionLimits {
  /**
   * Maximum number of connections of this process; default 4000. Reduced if the operating system allows fewer open
   * files.
   */
  readonly connectionsMax?: number
  /** Maximum number of connections from one network (/24, /64); default 2000. At most half of all connections. */
  readonly connectionsPerNetworkMax?: number
  /**
   * Returns true for the address of a proxy, whose connections do not count for their network. By default there is
   * none.
   */
  readonly isProxy?: (address: string) => boolean
}

/** Open files reserved for the database, the log and other uses of the process. */
const filesReserved = 150
const lingerMs = 1000
const lingeringMax = 50

/**
 * Returns how many additional connections of its network a connection with too many requests counts as. Such a
 * connection uses more memory, because the data behind its waiting requests stays in memory until it ends (more than 1
 * MB from one read).
 */
const furtherPlaces = (networkMax: number): number => Math.floor(networkMax / 20)

/**
 * Calls `accept` for connections within the limits. All others are answered with `unread` and closed. The function that
 * `accept` gets makes the connection count as several of its network. It may be called once, and returns false if the
 * network has not enough places left.
 */
export function acceptWithin(
  limits: ConnectionLimits,
  server: Server,
  unread: () => string,
  accept: (socket: Socket, network: string | undefined, takeFurtherPlaces: () => boolean) => void,
): void {
  const { connectionsMax = 4000, connectionsPerNetworkMax = 2000, isProxy = () => false } = limits
  const allMax = Math.max(1, Math.min(connectionsMax, openFilesMax() - filesReserved))
  const networkMax = Math.max(1, Math.min(connectionsPerNetworkMax, Math.ceil(allMax / 2)))
  const perNetwork = new Map<string, number>()
  let all = 0
  let lingering = 0

  function refuseUnread(socket: Socket): void {
    if (lingering >= lingeringMax) return void socket.destroy()
    lingering++
    socket.end(unread())
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => {
      clearTimeout(timer)
      lingering--
    })
  }

  const isFull = (network: string | undefined, places: number): boolean =>
    all + places > allMax || (network !== undefined && (perNetwork.get(network) ?? 0) + places > networkMax)

  function count(network: string | undefined, places: number): void {
    all += places
    if (network === undefined) return
    const counted = (perNetwork.get(network) ?? 0) + places
    if (counted === 0) perNetwork.delete(network)
    else perNetwork.set(network, counted)
  }

  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const network = isProxy(address) ? undefined : networkOf(address)
    if (isFull(network, 1)) {
      refuseUnread(socket)
      return
    }
    let places = 1
    count(network, places)
    accept(socket, network, () => {
      const further = furtherPlaces(networkMax)
      if (isFull(network, further)) return false
      places += further
      count(network, further)
      return true
    })
    socket.once('close', () => count(network, -places))
  })
}

/** Returns the limit on open files, or Infinity if the operating system does not report it. */
function openFilesMax(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Infinity : Number(limit)
  } catch {
    return Infinity
  }
}
