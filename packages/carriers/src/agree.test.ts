import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway, type Ports } from '@gateway/core'
import type { SealedSecret } from '@gateway/core/webhooks'
import { anAccount, memoryPorts } from '@gateway/core/testing'
import { certificatesOf } from './carrier-specification.ts'
import { agreeOnCarriers } from './agree.ts'
import type { CarrierConfiguration } from './configuration.ts'
import { readConfiguration } from './read-configuration.ts'
import { storeCarriers } from './stored-carriers.ts'

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'agree-'))))
afterAll(() => rm(folder, { recursive: true }))

const vodacom = {
  name: 'vodacom',
  ...{ host: 'smsc.example', systemId: 'me', password: 'hidden-1', window: 50 },
}
const mtn = { name: 'mtn', host: 'mtn.example', systemId: 'me', password: 'hidden-2' }
const all = { name: 'all', carriers: [{ carrier: 'vodacom' }] }

let files = 0
async function aFile(document: unknown, variables = {}): Promise<CarrierConfiguration> {
  const path = join(folder, `carriers-${files++}.json`)
  await writeFile(path, JSON.stringify(document))
  return readConfiguration(`file:${path}`, variables)
}
const aList = (carriers: string): Promise<CarrierConfiguration> => readConfiguration(carriers, {})

const aProcess = (pid: number) => ({ id: `process-${pid}`, host: 'alpha', pid })

const start = (ports: Ports, pid: number, configuration?: CarrierConfiguration) =>
  agreeOnCarriers(ports, { configured: configuration, process: aProcess(pid), leaseSeconds: 30 })

const refusal = (ports: Ports, pid: number, configuration?: CarrierConfiguration): Promise<string> =>
  start(ports, pid, configuration).then(
    () => 'none',
    (problem: unknown) => (problem as Error).message,
  )

const names = ({ configuration }: Awaited<ReturnType<typeof start>>) => configuration.carriers.map(({ id }) => id)
const pids = async ({ fleet }: Ports) => (await fleet.users()).map(({ process }) => process.pid)
const latest = async ({ fleet }: Ports) => (await fleet.state()).version
const end = ({ fleet }: Ports, { user }: Awaited<ReturnType<typeof start>>) =>
  fleet.beat({ user, seconds: 0, reports: [], counts: [] })
const routes = async (ports: Ports) => (await ports.routes.list()).map(({ name }) => name)

test('without CARRIERS, where nothing is stored, a process works with the simulated carrier, and stores nothing', async () => {
  const ports = memoryPorts()
  const agreed = await start(ports, 1)
  expect([names(agreed), agreed.user.version]).toEqual([['simulator'], 0])
  expect([await latest(ports), await pids(ports)]).toEqual([0, [1]])
})

test('the first start with a file stores it with its routes, and says who did', async () => {
  const ports = memoryPorts()
  const agreed = await start(ports, 1, await aFile({ carriers: [vodacom], routes: [all] }))
  expect([names(agreed), agreed.user.version, await routes(ports)]).toEqual([['vodacom'], 1, ['all']])
  expect(await ports.carrierVersions.latest()).toMatchObject({
    ...{ version: 1, carriers: ['vodacom'], storedBy: 'process 1 on alpha at its start' },
    digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  })
})

test('a carrier of a list is stored as well', async () => {
  const ports = memoryPorts()
  const agreed = await start(ports, 1, await aList('mtn=smpp://me:hidden@mtn.example?window=7'))
  expect([agreed.user.version, names(await start(ports, 2))]).toEqual([1, ['mtn']])
})

test('without CARRIERS a process uses the stored carriers, including secrets from variables and files', async () => {
  const ports = memoryPorts()
  await writeFile(join(folder, 'password'), 'hidden-3\n')
  await writeFile(join(folder, 'ca.pem'), 'a certificate')
  const document = {
    carriers: [
      { ...vodacom, password: { environment: 'SECRET' } },
      { ...mtn, password: { file: 'password' }, tls: true, ca: 'ca.pem' },
      { name: 'test', url: 'simulator:?delayMs=0' },
    ],
    routes: [all],
  }
  const first = await start(ports, 1, await aFile(document, { SECRET: 'hidden-4' }))
  const other = await start(ports, 2)
  expect(other.configuration.carriers).toEqual(first.configuration.carriers)
  expect(other.configuration.carriers).toMatchObject([
    { settings: { password: 'hidden-4' } },
    { settings: { password: 'hidden-3', tls: { ca: 'a certificate' } } },
    { kind: 'simulator' },
  ])
  expect([other.user.version, await pids(ports)]).toEqual([1, [1, 2]])
  expect(certificatesOf(other.configuration.carriers)).toEqual([
    { of: 'carrier mtn ca', are: 'authorities', pem: 'a certificate' },
  ])
})

test('the same carriers and routes in other words, order and places are the same', async () => {
  const ports = memoryPorts()
  await start(ports, 1, await aFile({ carriers: [vodacom, mtn], routes: [{ ...all, prefixes: ['27', '44'] }, { ...all, name: 'rest' }] }))
  const words = {
    carriers: [
      { name: 'mtn', url: 'smpp://me:hidden-2@mtn.example:2775?long=udh-8' },
      { ...vodacom, window: undefined, port: 2775, password: { environment: 'SECRET' } },
    ],
    routes: [
      { ...all, prefixes: ['44', '27'] },
      { name: 'rest', carriers: [{ carrier: 'vodacom', priority: 1, weight: 1 }], accounts: [] },
    ],
  }
  expect((await start(ports, 2, await aFile(words, { SECRET: 'hidden-1' }))).user.version).toBe(1)
}) // prettier-ignore

test.each<[string, object, ...string[]]>([
  ['a setting', { carriers: [{ ...vodacom, window: 10 }, mtn], routes: [all] }, 'carrier vodacom: window 50 -> 10'],
  ['a default', { carriers: [vodacom, { ...mtn, bindsMax: 4 }], routes: [all] }, 'carrier mtn: bindsMax none -> 4'],
  ['a host', { carriers: [vodacom, { ...mtn, host: 'x.example' }], routes: [all] }, 'carrier mtn: host mtn.example -> x.example'],
  ['a password', { carriers: [{ ...vodacom, password: 'hidden-5' }, mtn], routes: [all] }, 'carrier vodacom: password differs (not shown)'],
  ['TLS', { carriers: [{ ...vodacom, tls: true, port: 2775 }, mtn], routes: [all] }, 'carrier vodacom: kind smpp to smsc.example:2775 -> smpps to smsc.example:2775'],
  ['a carrier more', { carriers: [vodacom, mtn, { name: 'test', url: 'simulator:' }], routes: [all] }, 'carrier test: new, simulator'],
  ['a carrier less', { carriers: [vodacom], routes: [all] }, 'carrier mtn: removed'],
  ['a condition', { carriers: [vodacom, mtn], routes: [{ ...all, prefixes: ['27'] }, { ...all, name: 'rest' }] }, 'route all: prefixes none -> 27', 'route rest: new, vodacom (priority 1, weight 1)'],
  ['a weight', { carriers: [vodacom, mtn], routes: [{ ...all, carriers: [{ carrier: 'vodacom', weight: 3 }] }] }, 'route all: carriers vodacom (priority 1, weight 1) -> vodacom (priority 1, weight 3)'],
  ['no routes', { carriers: [vodacom, mtn] }, 'route all: removed'],
])('%s that differs refuses the start, is named without a secret, and changes nothing', async (_, other, ...lines) => {
  const ports = memoryPorts()
  await start(ports, 1, await aFile({ carriers: [vodacom, mtn], routes: [all] }))
  const configuration = await aFile(other)
  const why = await refusal(ports, 2, configuration)
  for (const each of lines) expect(why).toContain(`\n  ${each}\n`)
  expect(why).toContain('differ from version 1')
  expect(why).toContain(`gateway carrier apply ${configuration.file ?? ''}\n`)
  expect(why).not.toContain('hidden')
  expect([await latest(ports), await pids(ports), await routes(ports)]).toEqual([1, [1], ['all']])
}) // prettier-ignore

test('settings of a carrier over HTTP that differ are named, its secrets and its description without their values', async () => {
  const ports = memoryPorts()
  const main = { name: 'main', type: 'http', provider: 'bulksms', secrets: { id: 'x', token: 'hidden-1' }, window: 5 }
  const rules = [{ status: '2xx', is: 'accepted' }]
  const provider = { title: 'Own', send: { url: 'https://sms.example/{to}' }, answer: { id: '/id', rules } }
  const own = { name: 'own', type: 'http', provider, secrets: {} }
  await start(ports, 1, await aFile({ carriers: [main, own] }))
  expect((await start(ports, 2, await aFile({ carriers: [own, { ...main, holdSeconds: 15 }] }))).user.version).toBe(1)
  const others = [
    { ...main, secrets: { id: 'x', token: ['hidden-2', 'hidden-1'] }, window: 6 },
    { ...own, provider: { ...provider, title: 'New' } },
    { ...main, name: 'more' },
  ]
  const why = await refusal(ports, 3, await aFile({ carriers: others }))
  expect(why).toContain('carrier main: secrets differs (not shown)')
  expect(why).toContain('carrier main: window 5 -> 6')
  expect(why).toMatch(/carrier own: provider Own [0-9a-f]{12} -> New [0-9a-f]{12}/)
  expect(why).toContain('carrier more: new, http to bulksms')
  expect(why).not.toContain('hidden')
}) // prettier-ignore

test('the order of routes is a difference', async () => {
  const ports = memoryPorts()
  const [one, other] = [1, 2].map((at) => ({ ...all, name: `r${at}`, prefixes: [String(at)] }))
  await start(ports, 1, await aFile({ carriers: [vodacom], routes: [one, other, all] }))
  const why = await refusal(ports, 2, await aFile({ carriers: [vodacom], routes: [other, one, all] }))
  expect(why).toContain('routes: order r1, r2, all -> r2, r1, all')
})

test('simulators are refused where real carriers are stored, whether those run or not, unless the document names them', async () => {
  const ports = memoryPorts()
  await end(ports, await start(ports, 1, await aFile({ carriers: [vodacom] })))
  const why = await refusal(ports, 2, await aList('simulator:'))
  expect(why).toContain('carrier vodacom: removed')
  expect(why).toContain('carrier simulator: new, simulator')
  const named = { carriers: [vodacom, { name: 'test', url: 'simulator:' }] }
  const more = await aFile(named)
  await storeCarriers(ports, more, { after: 1, storedBy: 'x', onPurpose: true })
  expect(names(await start(ports, 3, more))).toEqual(['vodacom', 'test'])
})

test('processes with simulators alone: the same ones work together, and another names the process and the difference', async () => {
  const ports = memoryPorts()
  await start(ports, 1, await aList('simulator:?delayMs=1000'))
  await start(ports, 2)
  const why = await refusal(ports, 3, await aList('simulator:?delayMs=0'))
  expect(why).toContain('process 1 on alpha runs with other carriers')
  expect(why).toContain('carrier simulator: delayMs 1000 -> 0')
  expect(await latest(ports)).toBe(0)
})

test('a database goes from the simulator to a file once nobody simulates', async () => {
  const ports = memoryPorts()
  const first = await start(ports, 1)
  const file = await aFile({ carriers: [vodacom] })
  const why = await refusal(ports, 2, file)
  expect(why).toContain('process 1 on alpha runs with other carriers')
  expect(why).toContain('carrier vodacom: new, smpp to smsc.example:2775')
  expect(await latest(ports)).toBe(0)
  await end(ports, first)
  expect((await start(ports, 2, file)).user.version).toBe(1)
})

test('of eight processes that start at the same moment with different files one is the first, and the others name what differs', async () => {
  const ports = memoryPorts()
  const configurations = await Promise.all(
    Array.from({ length: 8 }, (_, at) => aFile({ carriers: [{ ...vodacom, window: at + 1 }] })),
  )
  const why = await Promise.all(configurations.map((one, at) => refusal(ports, at, one)))
  expect(why.filter((each) => each === 'none')).toHaveLength(1)
  expect(why.filter((each) => each.includes('carrier vodacom: window'))).toHaveLength(7)
  expect([await latest(ports), (await pids(ports)).length]).toEqual([1, 1])
})

test('eight processes that start at the same moment with the same file work together', async () => {
  const ports = memoryPorts()
  const file = await aFile({ carriers: [vodacom] })
  const versions = await Promise.all(Array.from({ length: 8 }, (_, at) => start(ports, at, file)))
  expect(versions.map(({ user }) => user.version)).toEqual(Array(8).fill(1))
})

test('who is killed after it has stored leaves a version that others follow', async () => {
  const ports = memoryPorts()
  const file = await aFile({ carriers: [vodacom], routes: [all] })
  await storeCarriers(ports, file, { after: 0, storedBy: 'who is killed', onPurpose: false })
  expect([(await start(ports, 2)).user.version, await routes(ports)]).toEqual([1, ['all']])
  expect((await start(ports, 3, file)).user.version).toBe(1)
  expect(await refusal(ports, 4, await aFile({ carriers: [mtn] }))).toContain('carrier mtn: new')
})

test('secrets encrypted with a key that this process does not have are named, and the process does not start', async () => {
  const ports = memoryPorts()
  const file = await aFile({ carriers: [vodacom] })
  const sealed = 'with another key' as SealedSecret
  const other = { ...ports, secretBox: { ...ports.secretBox, seal: () => sealed } }
  await storeCarriers(other, file, { after: 0, storedBy: 'another', onPurpose: false })
  for (const configured of [file, undefined]) {
    expect(await refusal(ports, 2, configured)).toMatch(/^version 1 of the stored carriers cannot be read: .*no key/)
  }
})

test('where the secrets of webhooks have a key that this process does not have, its carriers are not stored', async () => {
  const ports = memoryPorts()
  const account = await anAccount(ports)
  const sealed = 'with another key' as SealedSecret
  const other = { ...ports, secretBox: { ...ports.secretBox, seal: () => sealed } }
  expect(await createGateway(other).commands.addWebhook(account, { url: 'https://receiver.example/' })).toBeInstanceOf(
    Object,
  )
  const file = await aFile({ carriers: [vodacom] })
  const why = await refusal(ports, 1, file)
  expect(why).toMatch(/^the carriers in CARRIERS were not stored: .*no key/)
  expect(why).toContain('gateway carrier apply --despite-key')
  expect([await latest(ports), await pids(ports)]).toEqual([0, []])
  expect((await start(ports, 1)).user.version).toBe(0)
})

test('a stored document with a setting that this version does not know is refused as a whole', async () => {
  const ports = memoryPorts()
  const file = await aFile({ carriers: [vodacom] })
  const document = { carriers: [{ ...vodacom, ofTheFuture: 1 }] }
  const later = { ...file, source: { document, environment: {}, files: {} }, unresolved: [] }
  await storeCarriers(ports, later, { after: 0, storedBy: 'another', onPurpose: false })
  const why = await refusal(ports, 2)
  expect(why).toContain('version 1 of the stored carriers cannot be used')
  expect(why).toContain('there is no field "ofTheFuture"')
})
