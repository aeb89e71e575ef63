import { createServer, isIP, Socket, type AddressInfo, type Server } from 'node:net'
import { aPush } from '../testing/pushes.ts'
import { addressGuard } from './endpoint.ts'
import { dialTcp } from './guarded-connector.ts'
import { webhookClient } from './webhook-client.ts'

/** Listener on the loopback addresses of both families. No client may ever connect to it. */
let canary: { readonly server: Server; readonly port: number; connections: number }

beforeAll(async () => {
  const server = createServer((socket) => {
    canary.connections += 1
    socket.destroy()
  })
  // Listen on ::1 and 127.0.0.1 if the machine has both.
  await new Promise<void>((resolve) => {
    server.once('error', () => server.listen(0, '0.0.0.0', resolve))
    server.listen({ port: 0, host: '::', ipv6Only: false }, resolve)
  })
  canary = { server, port: (server.address() as AddressInfo).port, connections: 0 }
})
afterAll(() => new Promise((resolve) => canary.server.close(resolve)))

const somePublic = '8.8.8.8'

/** DNS answers of each name, one for each query. Further queries get the last answer again. */
const names: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'private.example': [['10.0.0.1']],
  'loopback.example': [['127.0.0.1']],
  'loopback6.example': [['::1']],
  'mixed.example': [[somePublic, '127.0.0.1']],
  'mixed-the-other-way.example': [['127.0.0.1', somePublic]],
  'mixed-families.example': [[somePublic, '::1']],
  'cname-to-internal.example': [['192.168.1.10']],
  'metadata.example': [['169.254.169.254']],
  'metadata6.example': [['fd00:ec2::254']],
  'azure.example': [['168.63.129.16']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'nat64.example': [['64:ff9b::7f00:1']],
  'unspecified.example': [['0.0.0.0']],
  'many.example': [[...Array.from({ length: 4000 }, (_, at) => `8.8.${at >> 8}.${at & 255}`), '127.0.0.1']],
  'scoped.example': [['fe80::1%lo']],
  'no-address.example': [['internal.host']],
  'none.example': [[]],
  'rebinding.example': [[somePublic], ['127.0.0.1']],
  'flapping.example': [[somePublic], ['127.0.0.1'], [somePublic], ['10.0.0.1']],
  'public.example': [[somePublic]],
}

/** Addresses of the machine and of its network, in many spellings. */
const literals = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0.0.1', '0x7f.1'],
  ...['017700000001', '0177.0.0.1', '0177.1', '127.0.0.01', '127.0.0.1.', '2130706433.', '0X7F.0X0.0X0.0X1'],
  ...[
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '127%2e0%2e0%2e1',
    '%31%32%37.0.0.1',
    '127.0.0.1%00',
    '127.0.0.1%',
  ],
  ...[
    '0',
    '0.0.0.0',
    '0.0.0.0.',
    '0x0',
    '00',
    '10.0.0.1',
    '10.1',
    '167772161',
    '012.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
  ],
  ...['192.168.0.1', '192.168.257', '0xc0a80001', '169.254.169.254', '2852039166', '0xa9fea9fe', '169.254.43518'],
  ...[
    '0251.0376.0251.0376',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
  ],
  ...['198.51.100.7', '203.0.113.9', '192.88.99.1', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:a9fe:a9fe::1]'],
  ...[
    '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
    '[fe80::1]',
    '[fe80::1%25lo]',
    '[fe80::1%lo]',
    '[fec0::1]',
    '[fc00::1]',
  ],
  ...[
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[100::1]',
    '[2001:2::1]',
    '[5f00::1]',
  ],
  ...[
    '[::1',
    '::1',
    '[::1].',
    '[127.0.0.1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'ｌｏｃａｌｈｏｓｔ',
    '%6cocalhost',
  ],
]

/** Other ways to hide a host. `PORT` stands for the port of the canary. */
const spellings = [
  ...['http://a@127.0.0.1:PORT/', 'http://a:b@[::1]:PORT/', 'http://@127.0.0.1:PORT/', 'http://:@127.0.0.1:PORT/'],
  ...['http://8.8.8.8@127.0.0.1:PORT/', 'http://127.0.0.1:PORT@8.8.8.8:6000/', 'http://8.8.8.8#@127.0.0.1:PORT/'],
  ...['http:127.0.0.1:PORT/', 'http:/127.0.0.1:PORT/', 'http:///127.0.0.1:PORT/', 'http:\\\\127.0.0.1:PORT\\'],
  ...[
    'http://8.8.8.8\\@127.0.0.1:PORT/',
    ' http://127.0.0.1:PORT/',
    'http://127.0.0.1:PORT/\r\nhost: x',
    'ht\ntp://127.1:PORT/',
  ],
  ...[
    '//127.0.0.1:PORT/',
    '127.0.0.1:PORT',
    'file:///etc/passwd',
    'ftp://127.0.0.1:PORT/',
    'gopher://127.0.0.1:PORT/_x',
  ],
  ...[
    'ws://127.0.0.1:PORT/',
    'javascript:alert(1)',
    'data:,x',
    'http://',
    'http://:PORT/',
    'http://.:PORT/',
    'http://..:PORT/',
  ],
  ...[
    'http://a..b:PORT/',
    `http://${'a'.repeat(64)}.example:PORT/`,
    'http://-a.example:PORT/',
    'http://*.example:PORT/',
    '',
  ],
  ...['http://8.8.8.8:22/', 'http://8.8.8.8:25/', 'http://8.8.8.8:0/', 'http://8.8.8.8:1023/', 'http://8.8.8.8:65536/'],
  `http://127.0.0.1:PORT/${'a'.repeat(2048)}`,
]

const urls = (): readonly string[] => [
  ...literals.map((host) => `http://${host}:${canary.port}/`),
  ...spellings.map((text) => text.replace('PORT', String(canary.port))),
  ...Object.keys(names).flatMap((name) => [
    `http://${name}:${canary.port}/`,
    `http://${name.toUpperCase()}.:${canary.port}/`,
  ]),
]

function attackedClient(settings: Parameters<typeof webhookClient>[0] = {}) {
  const dialled: string[] = []
  const queries = new Map<string, number>()
  const client = webhookClient({
    http: true,
    resolve: (name) => {
      const turns = names[name] ?? [[]]
      const turn = queries.get(name) ?? 0
      queries.set(name, turn + 1)
      return Promise.resolve(turns[Math.min(turn, turns.length - 1)] ?? [])
    },
    dial: (address, port) => {
      dialled.push(address)
      if (/^(127\.|::1$|0\.)/.test(address)) return dialTcp(address, port)
      // Connections to public addresses fail, because a test must not reach the network.
      const socket = new Socket()
      queueMicrotask(() => socket.destroy(new Error('no route')))
      return socket
    },
    ...settings,
  })
  return { client, dialled, queries }
}

test(`none of ${literals.length + spellings.length + 2 * Object.keys(names).length} hostile URLs reaches an internal address`, async () => {
  const { client, dialled } = attackedClient()
  const reached: string[] = []
  for (const url of urls()) {
    // Pushes several times, because a rebinding resolver answers the second query differently.
    for (let time = 0; time < 4; time += 1) {
      const before = dialled.length
      const answer = await client.push(aPush(url))
      if (answer.outcome !== 'failed' || dialled.slice(before).some((address) => !addressGuard([])(address)))
        reached.push(url)
    }
  }
  await client.close(Promise.resolve())
  expect(reached).toEqual([])
  expect(canary.connections).toBe(0)
  // Allowed addresses were dialled, so the silence of the canary does not come from a client that never connects.
  expect(dialled).toContain(somePublic)
})

test('a client that may reach this machine connects to the canary by each spelling of its address', async () => {
  const { client } = attackedClient({ allow: ['127.0.0.0/8'] })
  const before = canary.connections
  const spelt = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '１２７.０.０.１',
    '127%2e0%2e0%2e1',
    'localhost',
    'loopback.example',
  ]
  for (const host of spelt) await client.push(aPush(`http://${host}:${canary.port}/`))
  await client.close(Promise.resolve())
  expect(canary.connections - before).toBe(spelt.length)
})

test.each(literals)('%s is refused without a DNS query', (host) => {
  const { client, queries } = attackedClient()
  expect(client.refusalOf(`http://${host}:6000/`)).toMatch(/^(internal-address|not-a-url)$/)
  expect(queries.size).toBe(0)
})

test('a name is resolved once for each connection, and a later answer does not change that connection', async () => {
  const { client, queries, dialled } = attackedClient()
  expect(await client.push(aPush('http://rebinding.example/'))).toMatchObject({ failure: 'connection-failed' })
  expect(queries.get('rebinding.example')).toBe(1)
  expect(dialled).toEqual([somePublic])
  expect(await client.push(aPush('http://rebinding.example/'))).toMatchObject({ failure: 'internal-address' })
  expect(dialled).toEqual([somePublic])
  await client.close(Promise.resolve())
})

test('all addresses of a name are checked, and at most four are tried', async () => {
  const many = Array.from({ length: 300 }, (_, at) => `8.8.1.${at & 255}`)
  const { client, dialled } = attackedClient({ resolve: () => Promise.resolve(many) })
  expect(await client.push(aPush('http://many.example/'))).toMatchObject({ failure: 'connection-failed' })
  expect(dialled).toHaveLength(4)
  expect(dialled.every((address) => isIP(address) === 4)).toBe(true)
  await client.close(Promise.resolve())
})
