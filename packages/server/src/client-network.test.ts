import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { clientNetwork } from './client-network.ts'

const from = (remoteAddress: string | undefined) => {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  return new IncomingMessage(socket)
}

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['::FFFF:192.0.2.77', '192.0.2.0/24'],
  ['::ffff:c000:24d', '192.0.2.0/24'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:0:0:ffff::2', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['1:2:3:4::', '1:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['nonsense', 'unknown'],
  [undefined, 'unknown'],
])('%s belongs to %s', (address, network) => {
  expect(clientNetwork(from(address))).toBe(network)
})

test('behind a trusted proxy, the address that Express found counts', () => {
  expect(clientNetwork(Object.assign(from('127.0.0.1'), { ip: '198.51.100.9' }))).toBe('198.51.100.0/24')
})
