import request from 'supertest'
import { clientNetwork } from './client-network.ts'
import { createApp } from './create-app.ts'
import { createLog } from './log.ts'
import { inNetworks, readNetwork, trustProxies } from './trusted-proxies.ts'

const seen = async (proxies: readonly string[], forwarded?: string) => {
  const app = createApp({ log: createLog({ level: 'silent', name: 'test' }), service: 'test' })
  app.use((asked, response) => void response.end(clientNetwork(asked)))
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
  '%s is no network',
  (text) => {
    expect(readNetwork(text)).toBeUndefined()
  },
)

test('addresses are found in their networks, IPv4 in IPv6 clothes too', () => {
  const isIn = inNetworks(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'])
  expect(['10.255.0.1', '::ffff:10.1.1.1', '2001:db8:1::1', '192.0.2.1'].map(isIn)).toEqual([true, true, true, true])
  expect(['11.0.0.1', '2001:db9::1', '192.0.2.2', ''].map(isIn)).toEqual([false, false, false, false])
})
