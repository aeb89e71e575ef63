import { isIP } from 'node:net'
import type { PushFailure, UrlRefusal } from '@gateway/core/webhooks'
import ipaddr from 'ipaddr.js'

/** Parsed webhook URL whose text breaks no rule. Its name has not been resolved. */
export interface Endpoint {
  readonly secure: boolean
  /** IP address without brackets, or ASCII host name without a trailing dot. */
  readonly host: string
  /** Scheme, host and port, as in `https://hooks.example.com:8443`. */
  readonly origin: string
  /** Path with the query string. */
  readonly path: string
}

export interface EndpointRules {
  /** True if plain http is allowed. */
  readonly http: boolean
  /** Returns true if the gateway may connect to this IP address. */
  readonly mayReach: (address: string) => boolean
}

const urlCharactersMax = 2048
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Returns true for names that always mean the local machine (RFC 6761). No DNS server is asked for them. */
export const namesLoopback = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

export const loopbackAddresses: readonly string[] = ['127.0.0.1', '::1']

/**
 * Parses a webhook URL as the WHATWG URL standard does, so that any spelling of an IPv4 address is recognized. Allowed
 * ports are 80, 443 and those above 1023. Refuses an IP address that may not be reached; a name is checked only when it
 * is resolved.
 */
export function parseEndpoint(text: string, { http, mayReach }: EndpointRules): Endpoint | UrlRefusal {
  if (text.length > urlCharactersMax) return 'too-long'
  // These characters are refused because the URL parser drops or rewrites them, so other software could read another
  // host.
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

/** Returns true also for empty credentials (`https://@host`), which `URL` does not report. */
const hasCredentials = (text: string, { username, password }: URL): boolean =>
  username !== '' || password !== '' || /^[a-z]+:\/*[^/?#]*@/i.test(text)

const isPortAllowed = (port: string): boolean => ['', '80', '443'].includes(port) || Number(port) > 1023

type Address = ReturnType<typeof ipaddr.process>
type Network = ReturnType<typeof ipaddr.parseCIDR>

/** Public address that is the platform's own service in every virtual network of Azure. */
const azurePlatform = ipaddr.parseCIDR('168.63.129.16/32')

/** IPv6 range that IANA assigns to public hosts. Other IPv6 addresses are internal or are translated to IPv4. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Returns a check that is true for a public address and for an address in one of the networks that the operator allows
 * (`10.0.0.0/8`, `127.0.0.1`). Private, loopback, link-local (including cloud metadata services), carrier-grade NAT,
 * multicast, documentation, benchmarking, reserved and unspecified addresses are internal, and so is every IPv6 address
 * that embeds an IPv4 address. Throws if `allow` has a network that cannot be parsed.
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

/** Converts an IPv4-mapped IPv6 address to IPv4, so that it is allowed where the IPv4 address is. */
const unmapped = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address

function networkOf(text: string): Network {
  const [address, bits] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`)
  const plain = unmapped(address)
  return plain === address ? [address, bits] : [plain, Math.max(0, bits - 96)]
}

/** Error with the reason why a push failed. */
export class PushProblem extends Error {
  readonly failure: PushFailure
  readonly code = 'ERR_PUSH'
  constructor(failure: PushFailure, cause?: unknown) {
    super(failure, { cause })
    this.failure = failure
  }
}
