import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'

/**
 * The /24 or /64 of a request's client (ruling 1.26), by the peer's address unless the app sets Express's `trust proxy`. IPv4-mapped
 * IPv6 counts as IPv4; 'unknown' if the connection is closed.
 */
export const clientNetwork = (request: IncomingMessage & { readonly ip?: string | undefined }): string =>
  networkOf(request.ip ?? request.socket.remoteAddress ?? '')

/** The network of an address, as of `clientNetwork`. */
export const networkOf = (given: string): string => {
  const address = given.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  return isIPv6(address) ? networkOfIPv6(address) : 'unknown'
}

const networkOfIPv6 = (address: string): string => {
  // The URL parser gives the canonical form; `::ffff:7f00:1` is an IPv4 address in hex.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical)
  if (mapped) return networkOfMapped(mapped[1] ?? '', mapped[2] ?? '')
  const [head = '', tail] = canonical.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}

const networkOfMapped = (high: string, low: string): string => {
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)]
  return `${a >> 8}.${a & 255}.${b >> 8}.0/24`
}
