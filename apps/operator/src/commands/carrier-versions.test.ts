import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { SealedSecret } from '@gateway/core/webhooks'
import { anAccount } from '@gateway/core/testing'
import { anOperator, type Operator } from '../../testing/operate.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carriers-'))
  file = join(folder, 'carriers.json')
})
afterEach(() => rm(folder, { recursive: true }))

const mtn = { name: 'mtn', host: 'smsc.example', systemId: 'me', password: { environment: 'MTN' }, window: 50 }
const routes = [{ name: 'all', carriers: [{ carrier: 'mtn' }] }]
const variables = { MTN: 'hidden-1' }
const write = (document: object): Promise<void> => writeFile(file, JSON.stringify(document))
const published = async ({ ports }: Operator) => (await ports.routes.list()).map(({ name }) => name)

test('carrier apply stores a version, publishes its routes, and shows the differences without passwords', async () => {
  const operator = anOperator({ variables })
  await write({ carriers: [mtn], routes })
  expect(await operator.run(['carrier', 'apply', file])).toEqual({
    ...{ code: 0, err: '' },
    out:
      'Changes from nothing:\n  carrier mtn: new, smpp to smsc.example:2775\n  route all: new, mtn (priority 1, weight 1)\n' +
      'Stored as version 1. 0 of 0 dispatching processes use it.\n',
  })
  expect(await published(operator)).toEqual(['all'])
  await write({ carriers: [{ ...mtn, window: 10, password: 'hidden-2' }] })
  expect(await operator.json('carrier', 'apply', file)).toEqual({
    ...{ changed: true, carriersVersion: 2, processes: [] },
    differences: [
      { subject: 'carrier mtn', setting: 'password', before: '(not shown)', after: '(not shown)' },
      { subject: 'carrier mtn', setting: 'window', before: '50', after: '10' },
      { subject: 'route all', setting: null, before: 'mtn (priority 1, weight 1)', after: null },
    ],
  })
  expect(await published(operator)).toEqual([])
  expect(await operator.run(['carrier', 'apply', file])).toMatchObject({ out: 'Nothing differs from version 2.\n' })
  expect((await operator.ports.fleet.state()).version).toBe(2)
})

test('a dry run shows the differences and stores nothing', async () => {
  const operator = anOperator({ variables })
  await write({ carriers: [mtn] })
  expect(await operator.run(['carrier', 'apply', file, '--dry-run'])).toMatchObject({
    ...{ code: 0, err: '' },
    out: 'Changes from nothing:\n  carrier mtn: new, smpp to smsc.example:2775\nNothing was stored.\n',
  })
  expect(await operator.json('carrier', 'apply', file, '--dry-run')).toMatchObject({
    changed: false,
    carriersVersion: 0,
  })
  expect((await operator.ports.fleet.state()).version).toBe(0)
})

test('without a file the carriers of CARRIERS are stored', async () => {
  const operator = anOperator({ variables: { CARRIERS: 'a=smpp://me:hidden@smsc.example' } })
  expect(await operator.json('carrier', 'apply')).toMatchObject({ changed: true, carriersVersion: 1 })
  expect(await anOperator().run(['carrier', 'apply'])).toMatchObject({
    code: 2,
    err: 'Name a file, because CARRIERS is not set.\n',
  })
})

test('carrier versions lists the versions with author and time and shows one, and apply --stored returns to it', async () => {
  const operator = anOperator({ variables })
  expect((await operator.run(['carrier', 'versions'])).err).toContain('No version is stored')
  await write({ carriers: [mtn], routes })
  await operator.json('carrier', 'apply', file)
  await write({ carriers: [{ name: 'url', url: 'smpp://me:hidden-2@other.example' }] })
  await operator.json('carrier', 'apply', file)
  const process = { id: 'x', host: 'alpha', pid: 7 }
  const user = { process, version: 2, simulated: undefined }
  await operator.ports.carrierVersions.join(user, 600)

  const by = `${userInfo().username} on ${hostname()} by carrier apply`
  const digest = expect.stringMatching(/^[0-9a-f]{64}$/) as string
  const storedTime = expect.stringMatching(/^2026-10-18T/) as string
  expect(await operator.rows('carrier', 'versions')).toEqual([
    { carriersVersion: 2, storedTime, storedBy: by, digest, carriers: ['url'], processes: [{ host: 'alpha', pid: 7, carriersVersion: 2 }] },
    { carriersVersion: 1, storedTime, storedBy: by, digest, carriers: ['mtn'], processes: [] },
  ])
  const shown = [await operator.run(['carrier', 'versions', '1']), await operator.run(['carrier', 'versions', '2'])]
  expect(shown.map(({ out }) => JSON.parse(out) as unknown)).toEqual([
    { carriers: [mtn], routes },
    { carriers: [{ name: 'url', url: 'smpp://me:***@other.example' }] },
  ])
  expect(await operator.run(['carrier', 'versions', '3'])).toMatchObject({ code: 1, err: 'There is no version 3 of the carriers.\n' })

  await operator.ports.fleet.beat({ user, seconds: 0, reports: [], counts: [] })
  const back = await operator.run(['carrier', 'apply', '--stored', '1'])
  expect(back.out).toContain('carrier url: removed\n')
  expect(back.out).toContain('Stored as version 3.')
  expect(await published(operator)).toEqual(['all'])
  const [third, , first] = await operator.ports.carrierVersions.list(3)
  expect([third?.digest, third?.carriers]).toEqual([first?.digest, ['mtn']])
}) // prettier-ignore

test('processes that do not use the new version yet are named', async () => {
  const operator = anOperator({ variables })
  await write({ carriers: [mtn] })
  const process = { id: 'x', host: 'alpha', pid: 7 }
  await operator.ports.carrierVersions.join({ process, version: 0, simulated: '{}' }, 600)
  const applying = operator.run(['carrier', 'apply', file])
  operator.interrupt()
  expect((await applying).out).toContain(
    '0 of 1 dispatching processes use it.\nProcess 7 on alpha has not applied it yet',
  )
})

test('if the present version cannot be decrypted, apply refuses unless the key is lost', async () => {
  const operator = anOperator({ variables })
  const lost = { sealed: 'x' as SealedSecret, digest: 'x', carriers: [], routes: [], storedBy: 'x' }
  await operator.ports.carrierVersions.store(lost, 0, { onPurpose: true })
  await write({ carriers: [mtn] })
  for (const more of [[], ['--dry-run']]) {
    const { code, err } = await operator.run(['carrier', 'apply', file, ...more])
    expect([code, err]).toEqual([1, expect.stringContaining('Version 1 of the stored carriers cannot be read')])
    expect(err).toContain('--despite-key')
  }
  expect(await operator.json('carrier', 'apply', file, '--despite-key')).toMatchObject({
    changed: true,
    carriersVersion: 2,
  })
})

test('the first version is not stored with another key than the webhook secrets, unless requested', async () => {
  const operator = anOperator({ variables })
  const { id } = await anAccount(operator.ports)
  const webhook = { account: id, url: 'https://example.com', events: [], listSize: 1, withText: false }
  const lost = { ...webhook, secret: 'with another key' as SealedSecret }
  await operator.ports.webhooks.add(lost, operator.ports.clock.now())
  await write({ carriers: [mtn] })
  const { code, err } = await operator.run(['carrier', 'apply', file])
  expect([code, err]).toEqual([1, expect.stringContaining('--despite-key')])
  expect(await operator.ports.carrierVersions.latest()).toBeUndefined()
  expect(await operator.json('carrier', 'apply', file, '--despite-key')).toMatchObject({ carriersVersion: 1 })
})

test('an invalid file is refused like in carrier check, before anything is opened', async () => {
  const operator = anOperator({ variables: {} })
  await write({ carriers: [mtn] })
  const { code, err } = await operator.run(['carrier', 'apply', file])
  expect([code, err]).toEqual([1, expect.stringContaining('the variable MTN is not set')])
})

test('carrier test without CARRIERS uses the stored carriers', async () => {
  const operator = anOperator({ variables })
  const tried = () => operator.run(['carrier', 'test', 'other', '--to', '27825550101'])
  expect((await tried()).err).toBe('No carriers are stored and CARRIERS is not set.\n')
  await write({ carriers: [mtn] })
  await operator.json('carrier', 'apply', file)
  expect((await tried()).err).toBe('Version 1 of the carriers has no carrier other. Its carriers: mtn.\n')
})
