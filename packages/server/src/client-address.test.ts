import type { IncomingMessage } from 'node:http'
import { clientAddress, comesFrom } from './client-address.ts'

const from = (ip: string | undefined, remoteAddress = '10.9.9.9') =>
  ({ ip, socket: { remoteAddress } }) as unknown as IncomingMessage

test.each([
  ['192.0.2.7', ['192.0.2.0/24'], true],
  ['192.0.3.7', ['192.0.2.0/24'], false],
  ['::ffff:192.0.2.7', ['192.0.2.0/24'], true],
  ['::ffff:c000:207', ['192.0.2.7'], true],
  ['192.0.2.7', ['::ffff:192.0.2.0/120'], true],
  ['192.0.3.7', ['::ffff:192.0.2.0/120'], false],
  ['2001:db8::1', ['10.0.0.0/8', '2001:db8::/32'], true],
  ['2001:DB8:0:0::1', ['2001:db8::1'], true],
  ['2001:db9::1', ['2001:db8::/32'], false],
  ['fe80::1%eth0', ['fe80::/10'], true],
  ['203.0.113.9', ['0.0.0.0/0'], true],
  ['2001:db8::1', ['0.0.0.0/0'], false],
  ['10.1.2.3', ['10.255.255.255/8'], true],
  ['no address', ['0.0.0.0/0', '::/0'], false],
  ['', ['0.0.0.0/0', '::/0'], false],
])('whether %s is in %j: %j', (ip, networks, expected) => {
  expect(comesFrom(from(ip))(networks)).toBe(expected)
})

test('the address is what a trusted proxy says, else the peer’s, without the name of an interface', () => {
  expect(clientAddress(from('192.0.2.7'))).toBe('192.0.2.7')
  expect(clientAddress(from(undefined, 'fe80::1%eth0'))).toBe('fe80::1')
})
