import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { freshDatabase } from '../testing/fresh-database.ts'
import { cuttingProxy } from '../testing/cutting-proxy.ts'
import { createClient } from './client.ts'
import { certificatesOf, serverAddress } from './server-address.ts'

const url = 'postgres://me:secret@db:5432/gateway'

test('a socket never uses TLS', () => {
  for (const socket of ['postgres://me@/gateway?host=/run/x', 'postgres://me@%2Frun%2Fx/gateway']) {
    expect(serverAddress(`${socket}${socket.includes('?') ? '&' : '?'}sslmode=require`, {}).tls).toBeUndefined()
  }
})

test('only the TLS options are removed from the URL', () => {
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
])('%s with %j leads to %j', (url, env, hosts, isPrimaryWanted) => {
  const address = serverAddress(url, env)
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
  ['sslmode=verify-ca', 'sslmode=verify-ca needs the certificate of an authority'],
  ['sslmode=verify-ca&sslrootcert=system', 'sslmode=verify-ca is too weak for sslrootcert=system'],
  ['sslmode=require&sslrootcert=system', 'sslmode=require is too weak for sslrootcert=system'],
])('%s is refused with an error that names the problem', (query, message) => {
  expect(() => serverAddress(`${url}?${query}`, {})).toThrow(message)
})

// PostgreSQL documentation, "SSL Support": `system` makes verify-full the default.
test('with the authorities of the system the server is verified by default', () => {
  const { tls, plainIfRefused } = serverAddress(`${url}?sslrootcert=system`, {})
  expect([tls, plainIfRefused]).toEqual([{ rejectUnauthorized: true }, false])
})

test('a blank variable counts as unset', () => {
  const names = ['SSLMODE', 'SSLROOTCERT', 'SSLCERT', 'SSLKEY', 'TARGETSESSIONATTRS']
  for (const blank of ['', ' '])
    expect(serverAddress(url, Object.fromEntries(names.map((name) => [`PG${name}`, blank])))).toMatchObject({
      ...{ isPrimaryWanted: false, plainIfRefused: true, tls: { rejectUnauthorized: false } },
    })
})

describe('with files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-address-'))
  const file = (name: string) => join(folder, name)
  const [authority = ''] = rootCertificates
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const locked = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  for (const [name, text] of Object.entries({ authority, key, locked, other: 'something else' }))
    writeFileSync(file(name), text)
  afterAll(() => rmSync(folder, { recursive: true }))

  test('the named authorities are returned, and none without TLS', () => {
    const of = (query: string) => certificatesOf(serverAddress(`${url}?${query}`, { PGSSLROOTCERT: file('authority') }))
    expect(of('')).toEqual([{ of: 'database sslrootcert', are: 'authorities', pem: authority }])
    expect(of('sslmode=disable')).toEqual([])
  })

  test.each([
    ['sslrootcert=other', 'sslrootcert: the file other has no certificate in PEM'],
    ['sslrootcert=key', 'sslrootcert: the file key has no certificate in PEM'],
    ['sslcert=other&sslkey=key', 'sslcert: the file other has no certificate in PEM'],
    ['sslcert=authority', 'sslcert needs its key: name its file in sslkey'],
    ['sslcert=authority&sslkey=nowhere', 'sslkey: the file nowhere cannot be read'],
    ['sslcert=authority&sslkey=other', 'sslkey: the file other has no key in PEM'],
    ['sslcert=authority&sslkey=locked', 'sslkey: the file locked has a password, which is not supported'],
    ['sslcert=authority&sslkey=key', 'sslkey: the file key is not the key of authority'],
  ])('%s is refused with an error that names the problem', (query, message) => {
    const inFolder = (text: string, before: string) =>
      text.replaceAll(new RegExp(`(?<=${before})(authority|key|locked|other|nowhere)\\b`, 'g'), file('$1'))
    expect(() => serverAddress(`${url}?${inFolder(query, '=')}`, {})).toThrow(inFolder(message, 'file |key of '))
  })
})

describe('a server without TLS', () => {
  test('a socket among hosts has none, whatever the URL requires', async () => {
    const database = await freshDatabase()
    const several = database.connectionString.replace(/([?&]host=[^&]*)/, '$1,127.0.0.1&port=5432,9')
    const client = createClient(serverAddress(several.replace('sslmode=disable', 'sslmode=require'), {}), {})
    try {
      await client.connect()
    } finally {
      await client.end().catch(() => undefined)
      await database.drop()
    }
  })

  test.each([
    ['', true],
    ['disable', true],
    ['allow', true],
    ['prefer', true],
    ['require', false],
    ['verify-full', false],
  ])('with sslmode %j is used: %j', async (mode, speaks) => {
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
