import ipaddr from 'ipaddr.js'

type Address = ReturnType<typeof ipaddr.process>
type Network = ReturnType<typeof ipaddr.parseCIDR>

/** Public by its number, and yet the platform's own address in every virtual network of Azure. */
const azurePlatform = ipaddr.parseCIDR('168.63.129.16/32')

/** What IANA gives to public hosts; everything else of IPv6 is internal or is translated to IPv4 by somebody. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

/**
 * Whether an address may be connected to: it is public, or in one of the networks (`10.0.0.0/8`, `127.0.0.1`) that the operator allows.
 * Internal are private, loopback, link-local (with the metadata services of clouds), carrier-grade NAT, multicast, documentation,
 * benchmarking, reserved and unspecified addresses, and all IPv6 that stands for IPv4. Throws if a network cannot be read.
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
