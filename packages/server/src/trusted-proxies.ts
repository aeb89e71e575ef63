import type { RequestListener } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { isExpress } from './express-server.ts'

/** An address or a network in CIDR form, as given; undefined: it is neither. */
export function readNetwork(text: string): string | undefined {
  const [address = '', bits, more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more !== undefined) return undefined
  if (bits === undefined) return text
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128) ? text : undefined
}

/** Whether an address is in one of the networks, each as `readNetwork` gives it. */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = unmapped(network).split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  // BlockList compares IPv4 in IPv6 clothes with the rules of IPv4.
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** A network of IPv4-mapped IPv6 as that of IPv4: addresses are compared so. */
function unmapped(network: string): string {
  const [, address, bits = '128'] = /^::ffff:([0-9.]+)(?:\/(\d+))?$/i.exec(network) ?? []
  return address === undefined || Number(bits) < 96 ? network : `${address}/${Number(bits) - 96}`
}

/**
 * Lets `X-Forwarded-For` count for requests that come from these networks: of its addresses the last one that is not in them, so that
 * what a client writes there itself is worth nothing. An app that is not Express's keeps to the peer's address.
 */
export function trustProxies(app: RequestListener, networks: readonly string[]): void {
  if (networks.length > 0 && isExpress(app)) app.set('trust proxy', [...networks])
}
