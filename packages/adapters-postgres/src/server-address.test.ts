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

test.each([
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
