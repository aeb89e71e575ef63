import { BlockList, isIP } from 'node:net'

/**
 * Checks a base URL. Returns what is wrong, or undefined. Plain http is accepted only for loopback addresses,
 * `localhost`, and addresses in the networks of `allow`, such as `192.168.0.0/16`, because it sends secrets in the
 * clear. Every entry of `allow` must be a network (`isNetwork`).
 */
export function baseUrlProblem(text: string, allow: readonly string[]): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'a URL such as https://sms.example is expected'
  if (url.username !== '' || url.password !== '') return 'user and password belong in the secrets'
  if (url.search !== '' || url.hash !== '') return 'a URL without a query is expected'
  if (url.protocol === 'https:' || isPlainAllowed(url.hostname, allow)) return undefined
  return 'plain http is possible only for loopback addresses and the networks of CARRIER_HTTP_ALLOW'
}

function isPlainAllowed(hostname: string, allow: readonly string[]): boolean {
  if (hostname === 'localhost') return true
  const address = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(address)
  if (family === 0) return false
  const list = new BlockList()
  list.addSubnet('127.0.0.0', 8)
  list.addAddress('::1', 'ipv6')
  for (const network of allow) addNetwork(list, network)
  return list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Returns true for an address, or a network such as `192.168.0.0/16`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMaxOf(family))
}

const bitsMaxOf = (family: number): number => (family === 4 ? 32 : 128)

function addNetwork(list: BlockList, network: string): void {
  const [address = '', bits] = network.split('/')
  const family = isIP(address)
  list.addSubnet(address, bits === undefined ? bitsMaxOf(family) : Number(bits), family === 4 ? 'ipv4' : 'ipv6')
}
