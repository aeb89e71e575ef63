import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { NothingDoneError } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { aNumber, anAccount, anOrder, until } from '@gateway/core/testing'
import { ownServer, type OwnServer } from '../testing/own-server.ts'
import { patientSettings } from '../testing/patient-settings.ts'
import { postgresPorts, type PostgresPorts } from './postgres-ports.ts'
import { WriteHealth } from './write-health.ts'

const run = promisify(execFile)

// P-19: a process that cannot write reports the reason, leaves nothing half done, and recovers by itself.
describe('a process that cannot write', () => {
  let server: OwnServer
  let ports: PostgresPorts
  let account: AccountId
  const lines: string[] = []
  const log = { info: () => undefined, warn: (line: string) => void lines.push(line) }
  const connect = async (connectionString = server.connectionString) => {
    const client = new Client({ connectionString })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  const openOn = (connectionString: string): PostgresPorts =>
    postgresPorts({ connectionString, log, settings: { ...patientSettings, connectionSeconds: 1 } })
  const send = () => ports.ports.messages.accept(anOrder(account, { to: [aNumber()] }))

  beforeAll(async () => {
    server = await ownServer({ max_connections: 16, superuser_reserved_connections: 0 })
  }, 60_000)
  beforeEach(async () => {
    lines.length = 0
    ports = openOn(server.connectionString)
    account = (await anAccount(ports.ports)).id
    await send()
    expect(await ports.trouble()).toBeUndefined()
  })
  afterEach(() => ports.close(1))
  afterAll(() => server.remove())

  /** Checks the first reason that readiness reports, calls `mend`, and waits until readiness reports no reason. */
  async function saysWhy(reason: string, mend: () => Promise<unknown>): Promise<void> {
    const found = await until(async () => await ports.trouble())
    expect(found.reason).toBe(reason)
    await until(() => lines.length > 0)
    await mend()
    await until(async () => (await ports.trouble()) === undefined)
    await until(() => lines.at(-1) === 'the database accepts writes again')
    expect(lines[0]).toContain(`the database does not accept writes (${reason}): `)
    expect(await send()).toHaveProperty('results')
  }

  test('on a read-only database reports it, and its sends did nothing', async () => {
    await server.set({ default_transaction_read_only: 'on' })
    await until(async () =>
      send().then(
        () => false,
        (error: unknown) => error instanceof NothingDoneError,
      ),
    )
    await saysWhy('read-only', () => server.set({ default_transaction_read_only: 'off' }))
  })

  test('reports it without traffic as well', async () => {
    await server.set({ default_transaction_read_only: 'on' })
    await saysWhy('read-only', () => server.set({ default_transaction_read_only: 'off' }))
  })

  test('whose commits wait for a standby reports it, and begins nothing until the standby is back', async () => {
    await server.loseStandby()
    const found = await until(async () => await ports.trouble())
    expect(found.reason).toBe('standby-away')
    await expect(send()).rejects.toThrow(NothingDoneError)
    await saysWhy('standby-away', () => server.needNoStandby())
  })

  test('without any connection reports it, and keeps working with one', async () => {
    const others: Client[] = []
    const takeAll = () =>
      until(async () => {
        try {
          others.push(await connect())
          return false
        } catch {
          return true
        }
      })
    const mend = () => Promise.all(others.splice(0).map((client) => client.end()))
    try {
      await takeAll()
      // The process keeps working with its existing connections.
      expect(await Promise.all(Array.from({ length: 20 }, send))).toHaveLength(20)

      await ports.close(1)
      await takeAll()
      ports = openOn(server.connectionString)
      await expect(send()).rejects.toThrow(NothingDoneError)
      await saysWhy('no-connection-left', mend)
    } finally {
      await mend()
    }
  })

  describe('with a full disk', () => {
    let place: string
    let isMounted = false
    beforeAll(async () => {
      place = join(server.dataDir, 'small')
      await mkdir(place)
      await run('mount', ['-t', 'tmpfs', '-o', 'size=60m,mode=777', 'tmpfs', place]).then(
        () => (isMounted = true),
        (error: unknown) =>
          process.stderr.write(`NOT TESTED, a full disk: no tmpfs can be mounted here (${String(error)})\n`),
      )
    })
    afterAll(async () => {
      // Unmounts even if a process, such as a worker of the server that is ending, still has a file open there.
      if (isMounted) await run('umount', ['--lazy', place])
    })

    test('reports it, and its sends did nothing', async () => {
      if (!isMounted) return
      const inside = join(place, 'tables')
      await mkdir(inside)
      await run('chown', ['--reference', join(server.dataDir, 'postgres'), inside])
      await ports.close(1)
      await server.client.query(`create tablespace small location '${inside}'`)
      const admin = await connect(server.connectionString.replace('/gateway?', '/template1?'))
      await server.client.end()
      await admin.query('create database small template gateway tablespace small')
      await admin.end()
      ports = openOn(server.connectionString.replace('/gateway?', '/small?'))
      await send()
      const filler = join(place, 'filler')
      // Fills the disk until nothing more fits.
      await writeFile(filler, Buffer.alloc(64 * 2 ** 20)).catch(() => undefined)
      const orders = () => ports.ports.messages.accept(anOrder(account, { to: [aNumber()], text: 'x'.repeat(900) }))
      await until(async () =>
        orders().then(
          () => false,
          (error: unknown) => error instanceof NothingDoneError,
        ),
      )
      await saysWhy('disk-full', () => rm(filler))
    })
  })
})

test('free space on the disk is checked within two seconds, however often readiness is queried', async () => {
  let at = 0
  const looks: (readonly [at: number, isRoomAsked: boolean])[] = []
  const write = (isRoomAsked: boolean) => Promise.resolve(void looks.push([at, isRoomAsked]))
  const log = { info: () => undefined, warn: () => undefined }
  const writes = new WriteHealth({ write, whyPending: () => Promise.resolve('no-answer') }, log, () => at)
  for (; at <= 20_000; at += 250) expect(await writes.trouble()).toBeUndefined()
  const roomChecks = looks.filter(([, isRoomAsked]) => isRoomAsked).map(([when]) => when)
  expect(looks.length).toBe(81)
  expect(roomChecks.length).toBeLessThan(15)
  expect(Math.max(...roomChecks.map((when, i) => when - (roomChecks[i - 1] ?? 0)))).toBeLessThan(2000)
  await writes.close()
})

test('closing waits for the probe in progress and begins none', async () => {
  const written: (() => void)[] = []
  const write = () => new Promise<undefined>((resolve) => written.push(() => resolve(undefined)))
  const log = { info: () => undefined, warn: () => undefined }
  const writes = new WriteHealth({ write, whyPending: () => Promise.resolve('no-answer') }, log)
  const answer = writes.trouble()
  let isClosed = false
  const closing = writes.close().then(() => (isClosed = true))
  await new Promise(setImmediate)
  expect([written.length, isClosed]).toEqual([1, false])
  written[0]?.()
  await closing
  expect(await answer).toBeUndefined()
  expect(written).toHaveLength(1)
})
