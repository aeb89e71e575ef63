import { Client } from 'pg'
import { cuttingProxy } from '../testing/cutting-proxy.ts'
import { testServer } from '../testing/fresh-database.ts'
import {
  announcedProcess,
  breakConnection,
  isEnding,
  PreferringConnection,
  queryPrepared,
  setServer,
} from './driver.ts'

const clients: Client[] = []

function clientOf(options: object = {}): Client {
  const client = new Client({ connectionString: testServer(), ...options })
  client.on('error', () => undefined)
  clients.push(client)
  return client
}

async function connected(): Promise<Client> {
  const client = clientOf()
  await client.connect()
  return client
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)))
})

test('the announced process is the one that serves the connection', async () => {
  const client = await connected()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() pid')
  expect(announcedProcess(client)).toBe(rows[0]?.pid)
})

test('a client is ending from the call of end on, even if it has never connected', async () => {
  const [used, unused] = [await connected(), clientOf()]
  expect([used, unused].map(isEnding)).toEqual([false, false])
  const ended = [used.end(), unused.end()]
  expect([used, unused].map(isEnding)).toEqual([true, true])
  await Promise.allSettled(ended)
})

test('a broken connection fails its query and reports the error', async () => {
  const client = await connected()
  const errors: string[] = []
  client.on('error', ({ message }) => errors.push(message))
  const query = client.query('select pg_sleep(60)')
  breakConnection(client, new Error('broken by the test'))
  await expect(query).rejects.toThrow('broken by the test')
  await expect(client.query('select')).rejects.toThrow()
})

test('a client connects to the server that was set, whatever its URL names', async () => {
  const { searchParams } = new URL(testServer().replace('@/', '@localhost/'))
  const folder = searchParams.get('host') ?? ''
  const client = clientOf({ connectionString: 'postgres://gateway@several.invalid/gateway', ssl: {} })
  setServer(client, { name: folder, host: folder, port: Number(searchParams.get('port') ?? 5432) })
  await client.connect()
  expect((await client.query('select 1 one')).rows).toEqual([{ one: 1 }])
})

test('the certificate of a server is compared with its configured name, not with its address', () => {
  const ssl = {}
  const client = clientOf({ connectionString: 'postgres://gateway@several.invalid/gateway', ssl })
  setServer(client, { name: 'db.example.com', host: '192.0.2.1', port: 5433 })
  expect([client.host, client.port, ssl]).toEqual(['192.0.2.1', 5433, { servername: 'db.example.com' }])
})

test('a statement is prepared once under its name', async () => {
  const client = await connected()
  for (const value of [1, 2]) {
    const { rows } = await queryPrepared(client, 'double', 'select 2 * $1::int as double', [value])
    expect(rows).toEqual([{ double: 2 * value }])
  }
  const prepared = await client.query(`select from pg_prepared_statements where name = 'double'`)
  expect(prepared.rowCount).toBe(1)
  await expect(queryPrepared(client, 'wrong', 'select nothing', [])).rejects.toThrow('nothing')
})

test('a connection that prefers TLS continues without it if the server has none', async () => {
  const proxy = await cuttingProxy(testServer())
  try {
    // `sslmode` is removed, because it would override the `ssl` option.
    const connectionString = proxy.connectionString.replace('sslmode=disable', '')
    const ssl = { rejectUnauthorized: false }
    const client = clientOf({ connectionString, ssl, connection: new PreferringConnection({ ssl }) })
    await client.connect()
    expect((await client.query('select 1 one')).rows).toEqual([{ one: 1 }])
  } finally {
    await proxy.close()
  }
})
