import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCarriers, readConfiguration, storeCarriers, type CarrierConfiguration } from '@gateway/carriers'
import type { Carrier } from '@gateway/core/dispatch'
import type { SealedSecret } from '@gateway/core/webhooks'
import { memoryPorts, scriptedCarrier, until } from '@gateway/core/testing'
import { createLog } from '@gateway/server'
import { followCarriers } from './follow-carriers.ts'
import { Heartbeat } from './heartbeat.ts'

const log = createLog({ level: 'silent', name: 'test' })
const process = { id: '0195e9c4-0000-4000-8000-000000000001', host: 'alpha', pid: 11 }
const list = (carriers: string): Promise<CarrierConfiguration> => readConfiguration(carriers, {})

/** Starts a process that uses version 1, `a`, and reads `next()` on SIGHUP. */
async function following(next?: () => Promise<CarrierConfiguration>) {
  const ports = memoryPorts()
  const store = (one: CarrierConfiguration, after: number) =>
    storeCarriers(ports, one, { after, storedBy: 'test', onPurpose: true })
  const configuration = await list('a=simulator:')
  await store(configuration, 0)
  const works = new Set(['a'])
  const user = { process, version: 1, simulated: undefined }
  const heartbeat = new Heartbeat({ ...ports, user, leaseSeconds: 30, log })
  await heartbeat.start()
  const followed = followCarriers({
    ...{ ports, heartbeat, configuration, configured: { configuration, readAgain: next }, log },
    make: ({ id }): Carrier => scriptedCarrier({ id }),
    dispatching: {
      add: ({ id }) => void works.add(id),
      remove: (id) => Promise.resolve(void works.delete(id)),
    },
  })
  const stop = async () => {
    await followed.stop()
    await heartbeat.stop()
  }
  return { ports, store, works, followed, stop }
}

test('a version stored by another process is followed and logged', async () => {
  const { ports, store, works, followed, stop } = await following()
  await store(await list('a=simulator:,b=simulator:'), 1)
  await until(() => works.has('b') && followed.version() === 2)
  await until(async () => (await ports.fleet.users())[0]?.version === 2)
  expect([...works]).toEqual(['a', 'b'])
  await stop()
  expect(await ports.fleet.users()).toEqual([])
})

test('an unreadable version stops all carriers, and the next readable one starts them again', async () => {
  const { ports, store, works, followed, stop } = await following()
  const sealed = 'with another key' as SealedSecret
  const unreadable = { sealed, digest: 'x', carriers: [], routes: [], storedBy: 'x' }
  await ports.carrierVersions.store(unreadable, 1, { onPurpose: true })
  await until(() => works.size === 0)
  expect([followed.isUsable(), followed.version()]).toEqual([false, 1])
  await store(await list('b=simulator:'), 2)
  await until(() => works.has('b'))
  expect([followed.isUsable(), followed.version()]).toEqual([true, 3])
  await stop()
})

test('the reported certificates are those of the carriers in use', async () => {
  const { store, works, followed, stop } = await following()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-certificates-'))
  try {
    for (const name of ['ca', 'cert', 'key']) writeFileSync(join(folder, name), `the ${name}`)
    const files = ['ca', 'cert', 'key'].map((name) => `${name}=${join(folder, name)}`).join('&')
    expect(followed.certificates()).toEqual([])
    await store(await list(`b=smpps://me:secret@smsc.example?${files}`), 1)
    await until(() => works.has('b'))
    expect(followed.certificates()).toEqual([
      { of: 'carrier b ca', are: 'authorities', pem: 'the ca' },
      { of: 'carrier b cert', are: 'chain', pem: 'the cert' },
    ])
  } finally {
    rmSync(folder, { recursive: true })
    await stop()
  }
})

test('SIGHUP stores a changed file, and an unchanged file does not replace a newer version', async () => {
  let text = 'a=simulator:'
  let reads = 0
  const { ports, store, works, followed, stop } = await following(() => {
    reads++
    return list(text)
  })
  await store(await list('b=simulator:'), 1)
  await until(() => works.has('b'))
  followed.reload()
  await until(() => reads === 1)
  text = 'c=simulator:'
  followed.reload()
  await until(() => works.has('c'))
  const latest = await ports.carrierVersions.latest()
  expect(latest && (await openCarriers(latest, ports)).carriers.map(({ id }) => id)).toEqual(['c'])
  expect(latest).toMatchObject({ version: 3, storedBy: 'process 11 on alpha on SIGHUP' })
  await stop()
})

test('a stop waits for running calls of the store, and a file read afterwards is not stored', async () => {
  let give = (_next: CarrierConfiguration): void => undefined
  const { ports, followed, stop } = await following(() => new Promise((resolve) => (give = resolve)))
  const before = (await ports.fleet.state()).version
  followed.reload()
  await until(() => give.length > 0)
  await new Promise(setImmediate)
  await stop()
  give(await list('b=simulator:'))
  await new Promise(setImmediate)
  expect((await ports.fleet.state()).version).toBe(before)
})
