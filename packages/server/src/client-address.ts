import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

type Request = IncomingMessage & { readonly ip?: string | undefined }

/**
 * Returns the address of the client, or the address that a trusted proxy reports (`trustProxies`). Returns '' if the
 * connection is closed.
 */
export const clientAddress = (request: Request): string =>
  (request.ip ?? request.socket.remoteAddress ?? '').replace(/%.*$/, '')

/**
 * Returns true if a request comes from one of these networks, each in the form of `readNetwork`. IPv4-mapped IPv6
 * counts as IPv4.
 */
export const comesFrom =
  (request: Request) =>
  (networks: readonly string[]): boolean =>
    checkOf(networks)(clientAddress(request))

/**
 * Compiled networks, by the list from which they were parsed. Accounts and keys are cached with their lists, so each
 * list is parsed only once.
 */
const checks = new WeakMap<readonly string[], (address: string) => boolean>()

function checkOf(networks: readonly string[]): (address: string) => boolean {
  const check = checks.get(networks) ?? inNetworks(networks)
  checks.set(networks, check)
  return check
}

/**
 * Returns the /24 or /64 network of the client (ruling 1.26), from the address of the peer unless the app sets
 * Express's `trust proxy`. IPv4-mapped IPv6 counts as IPv4. Returns 'unknown' if the connection is closed.
 */
export const clientNetwork = (request: IncomingMessage & { readonly ip?: string | undefined }): string =>
  networkOf(request.ip ?? request.socket.remoteAddress ?? '')

/** Returns the network of an address, as `clientNetwork` does. */
export const networkOf = (text: string): string => {
  const address = text.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  return isIPv6(address) ? networkOfIPv6(address) : 'unknown'
}

const networkOfIPv6 = (address: string): string => {
  // The URL parser gives the canonical form; `::ffff:7f00:1` is an IPv4 address in hex.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical)
  if (mapped) return networkOfMapped(mapped[1] ?? '', mapped[2] ?? '')
  const [head = '', tail] = canonical.split('::')
  const leadingGroups = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - leadingGroups.length - right.length
  const groups = [...leadingGroups, ...Array<string>(zeros).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}

const networkOfMapped = (high: string, low: string): string => {
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)]
  return `${a >> 8}.${a & 255}.${b >> 8}.0/24`
}

/** Returns a single address unchanged, or a network in CIDR form. Returns undefined if the text is neither. */
export function readNetwork(text: string): string | undefined {
  const [address = '', bits, more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more !== undefined) return undefined
  if (bits === undefined) return text
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128) ? text : undefined
}

/** Returns a function that is true for addresses in one of the networks, each in the form of `readNetwork`. */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = unmapped(network).split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  // BlockList compares IPv4-mapped IPv6 with the rules of IPv4.
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Converts a network of IPv4-mapped IPv6 to IPv4, because addresses are compared in that form. */
function unmapped(network: string): string {
  const [, address, bits = '128'] = /^::ffff:([0-9.]+)(?:\/(\d+))?$/i.exec(network) ?? []
  return address === undefined || Number(bits) < 96 ? network : `${address}/${Number(bits) - 96}`
}
