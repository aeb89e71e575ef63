import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, createProcessing } from '@gateway/core'
import { memoryPorts, until } from '@gateway/core/testing'
import { createLog, createMetrics } from '@gateway/server'
import { SmppClient } from '../testing/smpp-client.ts'
import { serveSmpp } from './index.ts'
import { tlsFiles } from './tls-files.ts'

const log = createLog({ level: 'silent', name: 'smpp' })
let folder: string
const file = (name: string): string => join(folder, name)

function certificate(name: string): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file(`${name}.key`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1']
  execFileSync('openssl', ['req', '-x509', ...key, ...subject, '-out', file(`${name}.crt`)], { stdio: 'ignore' })
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'smpp-tls-'))
  certificate('first')
  certificate('second')
})
afterAll(() => rmSync(folder, { recursive: true }))

const plain = { HOST: '127.0.0.1', CLIENTS_MAX: 10, SMPP_PORT: 0, SMPP_TLS_PORT: 0 }

async function serve(environment: Partial<Parameters<typeof serveSmpp>[0]['environment']> = {}) {
  const ports = memoryPorts()
  const stops: (() => Promise<void> | void)[] = []
  const served = await serveSmpp({
    environment: { ...plain, SMPP_TLS_CERT: undefined, SMPP_TLS_KEY: undefined, ...environment },
    ...{ gateway: createGateway(ports), processing: createProcessing(ports), clock: ports.clock },
    ...{ log, metrics: createMetrics(), waiting: () => ports.smppDeliveries.waiting(undefined) },
    onStop: (_part, stop) => stops.push(stop),
  })
  const stop = async (): Promise<void> => {
    for (const one of stops.reverse()) await one()
  }
  return { ...served, stop }
}

const tls = () => ({ SMPP_TLS_CERT: file('cert.pem'), SMPP_TLS_KEY: file('key.pem') })
const use = (name: string): void => {
  copyFileSync(file(`${name}.crt`), file('cert.pem'))
  copyFileSync(file(`${name}.key`), file('key.pem'))
}
const authority = (name: string): string => readFileSync(file(`${name}.crt`), 'utf8')

test('a port in use is named, with its setting and the test SMSC as a likely reason', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  await expect(serve({ SMPP_PORT: port })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: another process uses this port; the test SMSC also uses 2775 by default. Stop it, or set SMPP_PORT to a free one.`,
  )
  await new Promise((resolve) => other.close(resolve))
})

test('without a certificate there is no port with TLS', async () => {
  const { server, stop } = await serve()
  expect(server.tlsPort).toBeUndefined()
  await stop()
})

test('a new certificate counts for new connections, and open ones stay', async () => {
  use('first')
  const { server, stop } = await serve(tls())
  const port = server.tlsPort ?? 0
  const old = await SmppClient.connect({ port, ca: authority('first') })
  expect(await old.enquire()).toMatchObject({ status: 0 })
  server.reload({ cert: authority('second'), key: readFileSync(file('second.key'), 'utf8') })
  await expect(SmppClient.connect({ port, ca: authority('first') })).rejects.toThrow('certificate')
  const next = await SmppClient.connect({ port, ca: authority('second') })
  for (const client of [old, next]) expect(await client.enquire()).toMatchObject({ status: 0 })
  for (const client of [old, next]) client.destroy()
  await stop()
})

test('the files of a certificate are followed, and files that do not match are not used', async () => {
  use('first')
  const seen: string[] = []
  const rejected: string[] = []
  const quiet = { info: () => undefined, error: (_fields: object, message: string) => void rejected.push(message) }
  const files = tlsFiles(tls(), quiet, 20)
  const following = files?.follow(({ cert }) => seen.push(cert))
  copyFileSync(file('second.crt'), file('cert.pem'))
  await until(() => rejected.length > 0)
  expect(seen).toEqual([])
  use('second')
  await until(() => seen.length === 1)
  expect(seen).toEqual([authority('second')])
  following?.stop()
})

test.each([
  ['a missing file', { SMPP_TLS_CERT: '/nonexistent', SMPP_TLS_KEY: '/nonexistent' }, 'SMPP_TLS_CERT: /nonexistent'],
  ['a certificate without a key', { SMPP_TLS_CERT: 'cert.pem' }, 'are needed together'],
])('%s is an error at the start', async (_title, environment, message) => {
  await expect(serve(environment)).rejects.toThrow(message)
})

test('a certificate that does not match its key is an error at the start', async () => {
  writeFileSync(file('cert.pem'), authority('first'))
  copyFileSync(file('second.key'), file('key.pem'))
  await expect(serve(tls())).rejects.toThrow('SMPP_TLS_CERT and SMPP_TLS_KEY cannot be used')
})
