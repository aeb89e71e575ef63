import { isIP } from 'node:net'
import type { UrlRefusal } from '@gateway/core'

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
 * Reads a URL as the WHATWG standard does, so that an IPv4 address in any spelling becomes an address. Ports: 80, 443, and those above
 * 1023. An IP address that may not be reached is refused here, a name only when it is resolved.
 */
export function parseEndpoint(text: string, { http, mayReach }: EndpointRules): Endpoint | UrlRefusal {
  if (text.length > urlCharactersMax) return 'too-long'
  // The parser would drop or turn what these are, and somebody else would read another host.
  // eslint-disable-next-line no-control-regex
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
