import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { smppCarrierFromUrl } from '@gateway/adapters-smpp'
import type { Carrier } from '@gateway/core/dispatch'
import { until } from '@gateway/core/testing'
import type { SmscTls, Smsc } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const run = promisify(execFile)
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
const carriers: Carrier[] = []
const smscs: Smsc[] = []
let folder: string
const file = (name: string): string => join(folder, name)

async function authority(name: string): Promise<void> {
  const to = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)]
  await run('openssl', ['req', '-x509', ...newKey, '-days', '1', '-subj', `/CN=${name}`, ...to])
}

/** Creates a certificate for this name, signed by `by`; `until` is YYMMDDhhmmssZ. */
async function certificate(name: string, by: string, subject: string, ended = '491231000000Z'): Promise<void> {
  await run('openssl', [
    'req',
    ...newKey,
    '-subj',
    '/CN=us',
    '-keyout',
    file(`${name}.key`),
    '-out',
    file(`${name}.csr`),
  ])
  await writeFile(file('index'), '')
  await writeFile(
    file('config'),
    `[ca]\ndefault_ca=x\n[x]\ndatabase=${file('index')}\nrand_serial=yes\nnew_certs_dir=${folder}\ndefault_md=sha256\npolicy=p\nx509_extensions=e\n` +
      `unique_subject=no\n[p]\ncommonName=supplied\n[e]\nsubjectAltName=${subject}\n`,
  )
  const times = ['-startdate', '200101000000Z', '-enddate', ended]
  const signer = ['-cert', file(`${by}.crt`), '-keyfile', file(`${by}.key`)]
  const files = ['-in', file(`${name}.csr`), '-out', file(`${name}.crt`), '-notext', '-batch']
  await run('openssl', ['ca', '-config', file('config'), ...times, ...signer, ...files])
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'smsc-tls-'))
  await authority('known')
  await authority('stranger')
  await certificate('good', 'known', 'DNS:smsc.example')
  await certificate('foreign', 'stranger', 'DNS:smsc.example')
  await certificate('expired', 'known', 'DNS:smsc.example', '210101000000Z')
  await certificate('client', 'known', 'DNS:us.example')
})
afterAll(() => rm(folder, { recursive: true }))
afterEach(async () => {
  await Promise.all(carriers.splice(0).map((carrier) => carrier.close(Promise.resolve())))
  await Promise.all(smscs.splice(0).map((smsc) => smsc.close()))
})

async function joined(server: string, parameters: string, more: Partial<SmscTls> = {}) {
  const [cert, key] = [await readFile(file(`${server}.crt`), 'utf8'), await readFile(file(`${server}.key`), 'utf8')]
  const smsc = await startSmsc({ tls: { cert, key, ...more } })
  smscs.push(smsc)
  const problems: string[] = []
  const report = (problem: unknown): void => void problems.push(String(problem))
  const carrier = smppCarrierFromUrl(
    `smpps://us:secret@127.0.0.1:${smsc.port}?ca=${file('known.crt')}&reconnectSecondsMax=1${parameters}`,
    { id: 'test', report },
  )
  carriers.push(carrier)
  carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
  const isBound = (): boolean => carrier.status().links.every(({ boundSince }) => boundSince !== undefined)
  return { smsc, problems, isBound }
}

const named = '&serverName=smsc.example'

test('a certificate of a known authority and for the right name is accepted', async () => {
  const { smsc, problems, isBound } = await joined('good', named)
  await until(isBound)
  expect(smsc.status().links).toMatchObject([{ systemId: 'us', kind: 'bind_transceiver' }])
  expect(problems).toEqual([])
})

test.each([
  ['for another name', 'good', '&serverName=other.example', 'is for another name (serverName)'],
  ['for a name, where only the address is known', 'good', '', 'is for another name (serverName)'],
  ['of an unknown authority', 'foreign', named, 'is of an unknown authority (ca)'],
  ['that has expired', 'expired', named, 'has expired'],
])('a certificate %s is refused with words, before the password is sent', async (_, server, parameters, words) => {
  const { smsc, problems, isBound } = await joined(server, parameters)
  await until(() => problems.length > 0)
  expect(problems[0]).toContain(`carrier test: the carrier's certificate ${words}`)
  expect(problems.join()).not.toContain('secret')
  expect(isBound()).toBe(false)
  expect(smsc.journal().filter(({ pdu }) => pdu?.command === 'bind_transceiver')).toEqual([])
})

test('a carrier that requires a client certificate: the bind succeeds with it, and the log explains a missing one', async () => {
  const clientCa = await readFile(file('known.crt'), 'utf8')
  const without = await joined('good', named, { clientCa })
  await until(() => without.problems.length > 0)
  expect(without.problems[0]).toContain('the carrier wants a certificate of ours (cert, key)')
  const own = `&cert=${file('client.crt')}&key=${file('client.key')}`
  const { isBound } = await joined('good', named + own, { clientCa })
  await until(isBound)
})

test('a carrier without TLS at this port is reported as such', async () => {
  const smsc = await startSmsc()
  smscs.push(smsc)
  const problems: string[] = []
  const report = (problem: unknown): void => void problems.push(String(problem))
  const carrier = smppCarrierFromUrl(`smpps://us:secret@127.0.0.1:${smsc.port}`, { id: 'test', report })
  carriers.push(carrier)
  carrier.listen({ receipts: () => Promise.resolve([]), inboundMessages: () => Promise.resolve() })
  await until(() => problems.length > 0)
  expect(problems.join()).not.toContain('secret')
})
