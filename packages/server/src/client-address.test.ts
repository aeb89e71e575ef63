import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import request from 'supertest'
import { clientAddress, clientNetwork, comesFrom, inNetworks, readNetwork } from './client-address.ts'
import { createApp, trustProxies } from './express-app.ts'
import { createLog } from './log.ts'

describe('client address', () => {
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

  test('the address is that from a trusted proxy, otherwise that of the peer, without the name of an interface', () => {
    expect(clientAddress(from('192.0.2.7'))).toBe('192.0.2.7')
    expect(clientAddress(from(undefined, 'fe80::1%eth0'))).toBe('fe80::1')
  })
})

describe('client network', () => {
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
})

describe('trusted proxies', () => {
  const seen = async (proxies: readonly string[], forwarded?: string) => {
    const app = createApp({ log: createLog({ level: 'silent', name: 'test' }), service: 'test' })
    app.use((request, response) => void response.end(clientNetwork(request)))
    trustProxies(app, proxies)
    const get = request(app).get('/')
    return (await (forwarded === undefined ? get : get.set('X-Forwarded-For', forwarded))).text
  }

  test.each<[string, readonly string[], string | undefined, string]>([
    ['nobody is trusted', [], '203.0.113.7', '127.0.0.0/24'],
    ['the peer is not one of the proxies', ['10.0.0.0/8'], '203.0.113.7', '127.0.0.0/24'],
    ['a proxy tells its client', ['127.0.0.1'], '203.0.113.7', '203.0.113.0/24'],
    ['a client that writes an address itself', ['127.0.0.0/8'], '198.51.100.1, 203.0.113.7', '203.0.113.0/24'],
    ['two proxies', ['127.0.0.1', '10.0.0.0/8'], '198.51.100.1, 203.0.113.7, 10.1.2.3', '203.0.113.0/24'],
    ['a client that claims to be a proxy', ['127.0.0.1', '10.0.0.0/8'], '10.9.9.9', '10.9.9.0/24'],
    ['no address at all', ['127.0.0.1'], 'somebody', 'unknown'],
    ['nothing forwarded', ['127.0.0.1'], undefined, '127.0.0.0/24'],
  ])('%s', async (_what, proxies, forwarded, network) => {
    expect(await seen(proxies, forwarded)).toBe(network)
  })

  test.each(['', 'x', '10.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', 'loopback'])(
    '%s is not a network',
    (text) => {
      expect(readNetwork(text)).toBeUndefined()
    },
  )

  test('addresses are found in their networks, also IPv4-mapped IPv6 ones', () => {
    const isIn = inNetworks(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'])
    expect(['10.255.0.1', '::ffff:10.1.1.1', '2001:db8:1::1', '192.0.2.1'].map(isIn)).toEqual([true, true, true, true])
    expect(['11.0.0.1', '2001:db9::1', '192.0.2.2', ''].map(isIn)).toEqual([false, false, false, false])
  })
})
