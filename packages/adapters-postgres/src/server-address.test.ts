import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '../testing/fresh-database.ts'
import { cuttingProxy } from '../testing/cutting-proxy.ts'
import { createClient } from './client.ts'
import { certificatesOf, serverAddress } from './server-address.ts'

const url = 'postgres://me:secret@db:5432/gateway'

test('a socket has no TLS, whatever is asked for', () => {
  for (const socket of ['postgres://me@/gateway?host=/run/x', 'postgres://me@%2Frun%2Fx/gateway']) {
    expect(serverAddress(`${socket}${socket.includes('?') ? '&' : '?'}sslmode=require`, {}).tls).toBeUndefined()
  }
})

test('what is said about TLS is taken out of the URL, and nothing else', () => {
  const { connectionString } = serverAddress(
    `${url}?sslmode=require&options=-c%20search_path%3Dx&application_name=a`,
    {},
  )
  expect(connectionString).toBe(`${url}?options=-c%20search_path%3Dx&application_name=a`)
  expect(serverAddress(url, {}).connectionString).toBe(url)
})

// PostgreSQL documentation, "Specifying Multiple Hosts".
test.each<[string, Readonly<Record<string, string>>, readonly string[], boolean]>([
  ['postgres://me@a/x', {}, ['a 5432'], false],
  ['postgres://me@a/x', { PGHOST: 'b', PGPORT: '6', PGTARGETSESSIONATTRS: 'primary' }, ['a 6'], true],
  ['postgres://me@a/x?target_session_attrs=read-write', {}, ['a 5432'], true],
  ['postgres://me@a/x?target_session_attrs=any', {}, ['a 5432'], false],
  ['postgres://me:p@a:1,b:2/x?target_session_attrs=read-write', {}, ['a 1', 'b 2'], true],
  ['postgres://a,b:2,[::1]:3/x', {}, ['a 5432', 'b 2', '::1 3'], true],
  ['postgres://a,b/x', { PGPORT: '7' }, ['a 7', 'b 7'], true],
  ['postgres:///x', { PGHOST: 'a,b', PGPORT: '1,2' }, ['a 1', 'b 2'], true],
  ['postgres:///x?host=/run/a,/run/b&port=1', { PGHOST: 'c' }, ['/run/a 1', '/run/b 1'], true],
  ['postgres://%2Frun%2Fa,b/x', {}, ['/run/a 5432', 'b 5432'], true],
  ['postgres:///x', {}, ['localhost 5432'], false],
])('%s with %j leads to %j', (given, env, hosts, isPrimaryWanted) => {
  const address = serverAddress(given, env)
  expect(address.hosts.map(({ host, port }) => `${host} ${port}`)).toEqual(hosts)
  expect(address.isPrimaryWanted).toBe(isPrimaryWanted)
  if (hosts.length > 1) expect(address.connectionString).toMatch(/^postgres:\/\/(?:me(?::p)?@)?several\.invalid\/x$/)
})

test.each([
  ['sslmode=disable&host=a,b,c&port=1,2', 'the database has 3 hosts and 2 ports; give one port, or one for each'],
  ['target_session_attrs=standby', 'target_session_attrs is "standby"; expected read-write, primary or any'],
  [
    'sslmode=no-verify',
    'sslmode is "no-verify"; expected one of disable, allow, prefer, require, verify-ca, verify-full',
  ],
  ['sslmode=require&sslrootcert=/nowhere/ca.pem', 'sslrootcert: the file /nowhere/ca.pem cannot be read'],
  ['sslcert=/nowhere/c.pem', 'sslcert: the file /nowhere/c.pem cannot be read'],
  ['sslkey=/nowhere/k.pem', 'sslkey: the file /nowhere/k.pem cannot be read'],
  ['sslmode=verify-ca&sslrootcert=system', 'sslmode=verify-ca needs the certificate of an authority'],
])('%s is refused with what is wrong', (query, message) => {
  expect(() => serverAddress(`${url}?${query}`, {})).toThrow(message)
})

test('the certificates that it names are told, and none where TLS is not used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-address-'))
  try {
    for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, name), `the ${name}`)
    const env = { PGSSLROOTCERT: join(folder, 'ca') }
    const of = (query: string) => certificatesOf(serverAddress(`${url}?${query}`, env))
    const root = { of: 'database sslrootcert', are: 'authorities', pem: 'the ca' }
    expect(of('')).toEqual([root])
    expect(of(`sslcert=${folder}/cert&sslkey=${folder}/key`)).toEqual([
      root,
      { of: 'database sslcert', are: 'chain', pem: 'the cert' },
    ])
    expect(of('sslmode=disable')).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe('a server without TLS', () => {
  test.each([
    ['', true],
    ['disable', true],
    ['allow', true],
    ['prefer', true],
    ['require', false],
    ['verify-full', false],
  ])('with sslmode %j is spoken to: %j', async (mode, speaks) => {
    const database = await freshDatabase()
    const proxy = await cuttingProxy(database.connectionString)
    const address = serverAddress(
      proxy.connectionString.replace('sslmode=disable&', ''),
      mode === '' ? {} : { PGSSLMODE: mode },
    )
    const client = createClient(address, { connectionTimeoutMillis: 5000 })
    try {
      const answer = client.connect().then(() => client.query('select from price'))
      if (speaks) await expect(answer).resolves.toMatchObject({ rowCount: 1 })
      else await expect(answer).rejects.toThrow('The server does not support SSL connections')
    } finally {
      await client.end().catch(() => undefined)
      await proxy.close()
      await database.drop()
    }
  })
})
