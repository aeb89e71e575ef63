import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ports } from '@gateway/core'
import type { CarrierId } from '@gateway/core/dispatch'
import type { ConnectionFields } from '@gateway/core/fleet'
import { memoryPorts } from '@gateway/core/testing'
import { agreeOnCarriers } from './agree.ts'
import { providerConnections, type ConnectionSettings } from './provider-connections.ts'
import { readFileConfiguration } from './read-configuration.ts'
import { openCarriers, storeCarriers, withoutPasswords } from './stored-carriers.ts'

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'connections-'))))
afterAll(() => rm(folder, { recursive: true }))

const token = 'hidden-token-1'
const twilio: ConnectionFields = {
  ...{ carrier: 'main', provider: 'twilio', secrets: { sid: 'AC0123', token } },
  ...{ from: '+15005550006', baseUrl: '', publicUrl: 'https://sms.example' },
}
const vonage: ConnectionFields = {
  ...{ ...twilio, carrier: 'second', provider: 'vonage', secrets: { key: 'k', secret: 's' } },
  from: '',
}

function world(settings: Partial<ConnectionSettings> = {}) {
  const ports = memoryPorts()
  const connections = providerConnections(ports, { variables: {}, isKeyShared: true, ...settings })
  const save = (fields: ConnectionFields, after: number, isNew = true) =>
    connections.save(fields, { after, isNew, storedBy: 'ann' })
  return { ports, connections, save, remove: (name: string, after: number) =>
    connections.remove(name as CarrierId, { after, storedBy: 'ann' }) } // prettier-ignore
}

async function opened(ports: Ports) {
  const latest = await ports.carrierVersions.latest()
  if (latest === undefined) throw new Error('nothing is stored')
  return openCarriers(latest, ports)
}

const start = (ports: Ports, configured?: Awaited<ReturnType<typeof readFileConfiguration>>) =>
  agreeOnCarriers(ports, { configured, process: { id: 'p', host: 'alpha', pid: 1 }, leaseSeconds: 30 })

async function aFile(name: string, document: unknown, variables = {}) {
  const path = join(folder, name)
  await writeFile(path, JSON.stringify(document))
  return readFileConfiguration(path, variables)
}

test('a connected provider is a stored version that every process reads, with its secrets', async () => {
  const { ports, save, connections } = world()
  expect(await save(twilio, 0)).toBe(1)
  const { configuration, user } = await start(ports)
  expect(user.version).toBe(1)
  expect(configuration.carriers).toMatchObject([
    {
      ...{ id: 'main', kind: 'http' },
      settings: { provider: 'twilio', secrets: { sid: ['AC0123'], token: [token] }, publicUrl: 'https://sms.example' },
    },
  ])
  expect(await connections.stored()).toEqual({
    ...{ version: 1, others: [], routes: [], publicUrl: 'https://sms.example', obstacle: undefined },
    connections: [
      {
        ...{ carrier: 'main', provider: 'twilio', from: '+15005550006', baseUrl: undefined, secrets: ['sid', 'token'] },
        callbackUrl: 'https://sms.example/carriers/main/callback',
      },
    ],
  })
})

test('a typed secret is in no document and in nothing that the page gets', async () => {
  const { ports, save, connections } = world()
  await save(twilio, 0)
  await save(vonage, 1)
  const { source } = await opened(ports)
  expect(source.document).toMatchObject({
    carriers: [{ secrets: { sid: { stored: 'main.sid' }, token: { stored: 'main.token' } } }, { name: 'second' }],
  })
  const shown = [source.document, withoutPasswords(source.document), await connections.stored()]
  expect(JSON.stringify(shown)).not.toMatch(/hidden-token|AC0123/)
  expect(JSON.stringify((await ports.carrierVersions.list(10)).map(({ sealed: _, ...one }) => one))).not.toContain(
    token,
  )
})

test('callbacks that the secrets for sending do not sign come to a random path of 192 bits', async () => {
  const { save, connections } = world()
  await save(vonage, 0)
  const { connections: [one] } = await connections.stored() // prettier-ignore
  expect(one?.callbackUrl).toMatch(/^https:\/\/sms\.example\/carriers\/second\/[\w-]{32}$/)
  await save({ ...vonage, secrets: { key: 'k2' } }, 1, false)
  expect((await connections.stored()).connections[0]?.callbackUrl).toBe(one?.callbackUrl)
})

test('an empty secret keeps its value, and a typed one replaces it', async () => {
  const { ports, save } = world()
  await save(twilio, 0)
  expect(await save({ ...twilio, secrets: { sid: '', token: 'new-token' }, from: '' }, 1, false)).toBe(2)
  const { carriers, source } = await opened(ports)
  expect(carriers).toMatchObject([
    { settings: { secrets: { sid: ['AC0123'], token: ['new-token'] }, from: undefined } },
  ])
  expect(source.stored).toEqual({ 'main.sid': 'AC0123', 'main.token': 'new-token' })
})

test('secrets for sending are never sent to another address unless they are typed again', async () => {
  const { save } = world()
  await save(twilio, 0)
  const elsewhere = { ...twilio, secrets: { sid: '', token: 'known' }, baseUrl: 'https://elsewhere.example' }
  expect(await save(elsewhere, 1, false)).toEqual({
    problems: { 'secrets.sid': 'Enter the Account SID again, because it will be sent to another address' },
  })
  expect(await save({ ...elsewhere, secrets: { sid: 'AC0123', token: 'known' } }, 1, false)).toBe(2)
})

test('of two changes after the same version exactly one is stored', async () => {
  const { ports, save } = world()
  const results = await Promise.all([save(twilio, 0), save(vonage, 0)])
  expect(results.toSorted()).toEqual([1, 'outdated'])
  expect((await opened(ports)).carriers).toHaveLength(1)
})

test('a removed carrier takes its stored secrets out of the new version', async () => {
  const { ports, save, remove } = world()
  await save(twilio, 0)
  expect(await remove('main', 1)).toBe('last-carrier')
  await save(vonage, 1)
  expect([await remove('third', 2), await remove('main', 1)]).toEqual(['no-such-carrier', 'outdated'])
  expect(await remove('main', 2)).toBe(3)
  const { source } = await opened(ports)
  expect(Object.keys(source.stored ?? {})).toEqual(['second.key', 'second.secret', 'second.path'])
})

test('other carriers, their secrets and the routes stay as they are, and a carrier of a route is not removed', async () => {
  const { ports, save, remove, connections } = world({ variables: { SMSC_PASSWORD: 'of the portal' } })
  const smpp = { name: 'smsc', host: 'smsc.example', systemId: 'me', password: { environment: 'SMSC_PASSWORD' } }
  const http = {
    name: 'main',
    type: 'http',
    provider: 'twilio',
    window: 7,
    secrets: { sid: 'AC1', token: ['new', 'old'] },
  }
  const routes = [{ name: 'all', carriers: [{ carrier: 'main' }, { carrier: 'smsc', priority: 2 }] }]
  const file = await aFile('routes.json', { carriers: [smpp, http], routes }, { SMSC_PASSWORD: 'hidden' })
  await storeCarriers(ports, file, { after: 0, storedBy: 'ann', onPurpose: true })
  expect(await save({ ...twilio, secrets: {} }, 1, false)).toBe(2)
  expect(await save(vonage, 2)).toBe(3)
  const { carriers, routes: stored } = await opened(ports)
  expect(carriers).toMatchObject([
    { id: 'smsc', settings: { password: 'hidden' } },
    { id: 'main', settings: { window: 7, secrets: { sid: ['AC1'], token: ['new', 'old'] } } },
    { id: 'second' },
  ])
  expect(stored.map(({ name }) => name)).toEqual(['all'])
  expect(await remove('main', 3)).toBe('in-use')
  expect(await connections.stored()).toMatchObject({ others: ['smsc'], routes: ['all'] })
})

test.each<readonly [string, Partial<ConnectionFields>, Readonly<Record<string, unknown>>]>([
  ['a name', { carrier: 'No Name' }, { carrier: 'A name has 1 to 32 characters of a-z, 0-9 and -' }],
  ['a secret', { secrets: { sid: 'AC0123' } }, { 'secrets.token': 'Enter the Auth token' }],
  [
    'a secret with a line break',
    { secrets: { sid: 'AC0123', token: 'hidden\nhidden' } },
    { 'secrets.token': 'The Auth token has letters, digits and signs without spaces' },
  ],
  ['a sender', { from: 'a name that is too long' }, { from: expect.stringContaining('A sender is a number') }],
  ['a base URL', { baseUrl: 'http://198.51.100.7' }, { baseUrl: expect.stringContaining('http') }],
  ['a public URL', { publicUrl: 'sms.example' }, { publicUrl: expect.stringContaining('https://') }],
  ['a provider', { provider: 'nobody' }, { provider: 'Choose a provider of the list' }],
  ['all fields at once', { carrier: '', secrets: {} }, {
    'carrier': expect.any(String), 'secrets.sid': expect.any(String), 'secrets.token': expect.any(String),
  }],
])('a wrong field is named: %s', async (_, changes, problems) => {
  const { ports, save } = world()
  const result = await save({ ...twilio, ...changes }, 0)
  expect(result).toEqual({ problems })
  expect(JSON.stringify(result)).not.toContain('hidden')
  expect(await ports.carrierVersions.latest()).toBeUndefined()
}) // prettier-ignore

test('a provider without an address of its own needs a base URL', async () => {
  const { save } = world()
  const gateway = { ...twilio, provider: 'gateway', secrets: { key: 'k' } }
  expect(await save(gateway, 0)).toEqual({ problems: { baseUrl: 'Enter the base URL' } })
  expect(await save({ ...gateway, baseUrl: 'https://other.example' }, 0)).toBe(1)
})

test('a name is used once', async () => {
  const { save } = world()
  await save(twilio, 0)
  expect(await save(twilio, 1)).toEqual({ problems: { carrier: 'There is already a carrier main' } })
})

test('a process that has no key in common with others stores nothing, and says why', async () => {
  const { ports, save, connections } = world({ isKeyShared: false })
  expect((await connections.stored()).obstacle).toEqual({ is: 'no-key' })
  expect(await save(twilio, 0)).toEqual({ problems: { '': expect.stringContaining('SECRETS_KEY') as string } })
  expect(await ports.carrierVersions.latest()).toBeUndefined()
})

test('a process with another key neither reads nor changes the stored carriers, and says why', async () => {
  const { ports, save } = world()
  await save(twilio, 0)
  const open = (): string => {
    throw new Error('the key is another one')
  }
  const other = providerConnections(
    { ...ports, secretBox: { ...ports.secretBox, open } },
    { variables: {}, isKeyShared: true },
  )
  const obstacle = { is: 'other-key', reason: 'the key is another one' }
  expect(await other.stored()).toMatchObject({ obstacle, connections: [] })
  expect(await other.save(vonage, { after: 1, isNew: true, storedBy: 'ann' })).toEqual({
    problems: { '': 'the key is another one' },
  })
})

test('a file may refer to stored secrets, and has the meaning of the stored version then', async () => {
  const { ports, save } = world()
  await save(twilio, 0)
  const { source } = await opened(ports)
  const same = await aFile('same.json', source.document)
  expect((await start(ports, same)).user.version).toBe(1)
  const missing = { ...(source.document as object), carriers: [{ ...http('main'), secrets: stored('main', 'other') }] }
  await expect(start(ports, await aFile('other.json', missing))).rejects.toThrow(
    'secrets/token: there is no stored secret "main.other"',
  )
  await expect(start(memoryPorts(), same)).rejects.toThrow('there is no stored secret "main.sid"')
})

const http = (name: string) => ({ name, type: 'http', provider: 'twilio' })
const stored = (name: string, secret: string) => ({
  sid: { stored: `${name}.sid` },
  token: { stored: `${name}.${secret}` },
})
