import { isIP } from 'node:net'
import type { PushFailure, UrlRefusal } from '@gateway/core/webhooks'
import ipaddr from 'ipaddr.js'

/** An address that may be asked, as far as its text tells. */
export interface Endpoint {
  readonly secure: boolean
  /** As an IP address, without brackets, or as a name in ASCII without the dot at the end. */
  readonly host: string
  /** Scheme, host and port. */
  readonly origin: string
  /** With the query. */
  readonly path: string
}

export interface EndpointRules {
  /** Plain http is allowed. */
  readonly http: boolean
  /** Whether an IP address may be connected to. */
  readonly mayReach: (address: string) => boolean
}

const urlCharactersMax = 2048
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** These names mean this machine everywhere (RFC 6761) and are not asked of a server. */
export const namesLoopback = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

export const loopbackAddresses: readonly string[] = ['127.0.0.1', '::1']

/**
 * Reads a URL as the WHATWG standard does, so that an IPv4 address in any spelling becomes an address. Ports: 80, 443,
 * and those above 1023. An IP address that may not be reached is refused here, a name only when it is resolved.
 */
export function parseEndpoint(text: string, { http, mayReach }: EndpointRules): Endpoint | UrlRefusal {
  if (text.length > urlCharactersMax) return 'too-long'
  // The parser would drop or turn what these are, and somebody else would read another host.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f\\]/.test(text) || !URL.canParse(text)) return 'not-a-url'
  const url = new URL(text)
  const host = hostOf(url)
  if (url.protocol !== 'https:' && !(http && url.protocol === 'http:')) return 'not-https'
  if (isIP(host) === 0 && !NAME.test(host)) return 'not-a-url'
  if (hasCredentials(text, url)) return 'credentials-in-url'
  if (!isPortAllowed(url.port)) return 'port-not-allowed'
  const addresses = namesLoopback(host) ? loopbackAddresses : isIP(host) === 0 ? [] : [host]
  if (addresses.length > 0 && !addresses.some(mayReach)) return 'internal-address'
  return { secure: url.protocol === 'https:', host, origin: url.origin, path: url.pathname + url.search }
}

const hostOf = ({ hostname }: URL): string =>
  hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')

/** Also empty ones, which a URL forgets. */
const hasCredentials = (text: string, { username, password }: URL): boolean =>
  username !== '' || password !== '' || /^[a-z]+:\/*[^/?#]*@/i.test(text)

const isPortAllowed = (port: string): boolean => ['', '80', '443'].includes(port) || Number(port) > 1023

type Address = ReturnType<typeof ipaddr.process>
type Network = ReturnType<typeof ipaddr.parseCIDR>

/** Public by its number, and yet the platform's own address in every virtual network of Azure. */
const azurePlatform = ipaddr.parseCIDR('168.63.129.16/32')

/** What IANA gives to public hosts; everything else of IPv6 is internal or is translated to IPv4 by somebody. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Whether an address may be connected to: it is public, or in one of the networks (`10.0.0.0/8`, `127.0.0.1`) that the
 * operator allows. Internal are private, loopback, link-local (with the metadata services of clouds), carrier-grade
 * NAT, multicast, documentation, benchmarking, reserved and unspecified addresses, and all IPv6 that stands for IPv4.
 * Throws if a network cannot be read.
 */
export function addressGuard(allow: readonly string[]): (address: string) => boolean {
  const allowed = allow.map(networkOf)
  return (text) => {
    if (!ipaddr.isValid(text) || text.includes('%')) return false
    const address = ipaddr.parse(text)
    return allowed.some((network) => isIn(unmapped(address), network)) || isPublic(address)
  }
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' ? !isIn(address, azurePlatform) : isIn(address, globalUnicast)
}

const isIn = (address: Address, network: Network): boolean =>
  address.kind() === network[0].kind() && address.match(network)

/** An IPv4 address in the form of IPv6 is allowed where the IPv4 address is. */
const unmapped = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address

function networkOf(text: string): Network {
  const [address, bits] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`)
  const plain = unmapped(address)
  return plain === address ? [address, bits] : [plain, Math.max(0, bits - 96)]
}

/** Why a connection did not come about. */
export class PushProblem extends Error {
  readonly failure: PushFailure
  readonly code = 'ERR_PUSH'
  constructor(failure: PushFailure, cause?: unknown) {
    super(failure, { cause })
    this.failure = failure
  }
}
