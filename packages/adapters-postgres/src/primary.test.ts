import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { aNumber, anAccount, anOrder, until } from '@gateway/core/testing'
import { NothingDoneError } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { Client } from 'pg'
import { canRunHaproxy, primaryByHaproxy, type PrimaryByName } from '../testing/haproxy.ts'
import { twoServers, type TwoServers } from '../testing/two-servers.ts'
import { createClient } from './client.ts'
import { checkedClientOf } from './primary.ts'
import { postgresPorts, type PostgresPorts } from './postgres-ports.ts'
import { serverAddress } from './server-address.ts'
import { whetherPrimary, whichTimeline } from './sql/server.ts'

// Loopback addresses that only this process uses, because other tests listen on the same machine.
const own = `127.${1 + (Math.floor(process.pid / 254) % 254)}.${1 + (process.pid % 254)}`
const addresses = process.platform === 'linux' ? ([`${own}.1`, `${own}.2`] as const) : undefined
const hasProxy = addresses !== undefined && canRunHaproxy()
if (!hasProxy) console.warn('NOTICE: one name that moves by HAProxy is not tested: it needs Linux and HAProxy')

// P-1: with a synchronous standby the loss of a server loses nothing, and no process has to be restarted. Tested over
// TCP.
describe('with a primary and a standby', () => {
  let servers: TwoServers
  let gateway: PostgresPorts
  let proxy: PrimaryByName | undefined
  let byName: PostgresPorts | undefined
  let account: AccountId
  const lines: string[] = []
  const log = { info: () => undefined, warn: (line: string) => void lines.push(line) }
  const open = (connectionString: string) => postgresPorts({ connectionString, log })
  const send = (ports = gateway.ports) => ports.messages.accept(anOrder(account, { to: [aNumber()] }))
  const sends = () => servers.standby.query('select from send')

  beforeAll(async () => {
    servers = await twoServers(addresses && { addresses })
    await servers.synchronous()
    if (hasProxy) proxy = await primaryByHaproxy([servers.primary, servers.standby])
    byName = proxy && open(proxy.connectionString)
    gateway = open(servers.connectionString)
    account = (await anAccount(gateway.ports)).id
    await send()
  }, 120_000)
  afterAll(async () => {
    await gateway.close(1)
    await byName?.close(1)
    await proxy?.close()
    await servers.remove()
  })

  test('a standby that is not promoted is never used, wherever it is in the list', async () => {
    const standbyFirst = servers.connectionString
      .replace(/host=([^,]*),([^&]*)/, 'host=$2,$1')
      .replace(/@([^,/]+),([^/]+)/, '@$2,$1')
    const client = createClient(serverAddress(standbyFirst, {}), {})
    await client.connect()
    const { rows } = await client.query(`select pg_is_in_recovery() standby`)
    await client.end()
    expect(rows).toEqual([{ standby: false }])

    const alone = `${servers.standby.connectionString}&target_session_attrs=read-write`
    const refused = createClient(serverAddress(alone, {}), {})
    await expect(refused.connect()).rejects.toThrow(new RegExp(`${servers.standby.host}(:5432)? is read-only`))
    const idle = open(alone)
    expect(await until(() => idle.trouble())).toMatchObject({ reason: 'read-only' })
    await expect(idle.checkServer()).rejects.toThrow('is read-only')
    await idle.close(1)
  })

  // P-19. Readiness is queried as `/health/ready` does it: half a second after each answer.
  test('a standby that does not answer makes the process not ready within 2 s; reads go on', async () => {
    const frozen = performance.now()
    servers.standby.freeze()
    try {
      const found = await until(async () => (await gateway.trouble()) ?? (await delay(500, false)))
      expect(performance.now() - frozen).toBeLessThan(2000)
      expect(found).toMatchObject({ reason: 'standby-away', states: { commits: 'waiting for a standby' } })
      expect(await gateway.ports.accounts.find(account)).toHaveProperty('account.id', account)
      await expect(send()).rejects.toThrow(NothingDoneError)
    } finally {
      servers.standby.thaw()
    }
    await until(async () => (await gateway.trouble()) === undefined)
    await send()
  })

  test('one host name that leads to the primary is enough', async () => {
    if (byName !== undefined) await until(() => send(byName?.ports).then(() => true, () => false)) // prettier-ignore
  })

  test('after the primary was killed, the same process continues with the promoted standby', async () => {
    const before = (await sends()).length
    /** Number of sends whose error does not say that nothing was done. Either server may have stored them. */
    let unknown = 0
    const isSent = (ports = gateway.ports) =>
      send(ports).then(
        () => true,
        (problem: unknown) => {
          if (!(problem instanceof NothingDoneError)) unknown++
          return false
        },
      )
    const expectStored = async (count: number) => {
      const stored = (await sends()).length - before
      expect(stored).toBeGreaterThanOrEqual(count)
      expect(stored).toBeLessThanOrEqual(count + unknown)
    }
    servers.primary.kill()
    expect(await isSent()).toBe(false)
    expect(await until(() => gateway.trouble())).toMatchObject({ reason: expect.any(String) as string })
    await servers.promote()
    const promoted = performance.now()
    await until(() => isSent())
    expect(performance.now() - promoted).toBeLessThan(5000)
    await until(async () => (await gateway.trouble()) === undefined)
    await expectStored(1)
    // The same holds for a connection by host name, as soon as HAProxy has noticed the promotion.
    if (byName === undefined) return
    await until(() => isSent(byName?.ports))
    expect(performance.now() - promoted).toBeLessThan(10_000)
    await expectStored(2)
  })
})

// A process that has seen a later timeline never writes to an earlier one.
describe('with two primaries', () => {
  let servers: TwoServers
  let gateway: PostgresPorts
  let account: AccountId
  const send = (ports = gateway.ports) => ports.messages.accept(anOrder(account, { to: [aNumber()] }))
  const isSent = () => send().then(() => true, () => false) // prettier-ignore
  const open = (connectionString: string) => postgresPorts({ connectionString })

  beforeAll(async () => {
    servers = await twoServers()
    gateway = open(servers.connectionString)
    account = (await anAccount(gateway.ports)).id
    await send()
    await until(async () => (await servers.standby.query('select from send')).length === 1)
  }, 120_000)
  afterAll(async () => {
    await gateway.close(1)
    await servers.remove()
  })

  test('a role without special privileges can read the timeline', async () => {
    await servers.primary.query('create role plain login')
    const url = servers.primary.connectionString.replace('gateway@', 'plain@')
    const client = createClient(serverAddress(url, {}), {})
    await client.connect()
    expect((await client.query(whichTimeline.text)).rows).toMatchObject([{ timeline: 1 }])
    await client.end()
  })

  test('a primary that stops answering is replaced by the promoted one, and gets no writes when it continues', async () => {
    servers.primary.freeze()
    try {
      await servers.promote()
      const promoted = performance.now()
      await until(isSent)
      expect(performance.now() - promoted).toBeLessThan(5000)
    } finally {
      servers.primary.thaw()
    }
    // The gateway has closed its connections to the old primary. A search for the primary still connects, reads its
    // role and disconnects.
    const ofGateway = `select from pg_stat_activity where application_name like 'gateway%' and application_name not like '%looks%'`
    await until(async () => (await servers.primary.query(ofGateway)).length === 0)
    // Statements that reached the old primary before it stopped may have committed there without an answer.
    const there = await servers.primary.query('select from send')
    await Promise.all(Array.from({ length: 20 }, () => send()))
    expect(await servers.primary.query('select from send')).toEqual(there)

    const fresh = open(servers.connectionString)
    await send(fresh.ports)
    await fresh.close(1)
    expect(await servers.primary.query('select from send')).toEqual(there)
  })

  test('an old primary gets no writes, even if it is the only server left', async () => {
    const there = await servers.primary.query('select from send')
    servers.standby.kill()
    expect(await until(async () => (await gateway.trouble())?.reason === 'old-primary')).toBe(true)
    await expect(send()).rejects.toThrow(NothingDoneError)
    expect(await servers.primary.query('select from send')).toEqual(there)
  })
})

// A standby records the timeline that it follows at its next restart point, possibly minutes after the promotion.
test('if only standbys are left, none of them counts as an old primary', async () => {
  const servers: Record<number, { readonly isPrimary: boolean; readonly timeline: number } | undefined> = {
    1: { isPrimary: true, timeline: 2 },
    2: { isPrimary: false, timeline: 1 },
  }
  class Server extends EventEmitter {
    readonly port = 0
    readonly connectionParameters = {}
    readonly ssl = false
    async connect() {
      await Promise.resolve()
      if (servers[this.port] === undefined) throw new Error('connection refused')
    }
    async query({ text }: { readonly text: string }) {
      await Promise.resolve()
      const { isPrimary, timeline } = servers[this.port] ?? {}
      return { rows: [text === whetherPrimary.text ? { isPrimary } : { system: '1', timeline }] }
    }
    end = () => Promise.resolve()
  }
  const address = serverAddress('postgres://127.0.0.1:1,127.0.0.1:2/gateway', {})
  const Checked = checkedClientOf(address, Server as unknown as typeof Client)
  const first = new Checked()
  await first.connect()

  servers[1] = undefined
  first.emit('end')
  await expect(new Checked().connect()).rejects.toMatchObject({ reason: 'read-only' })
  servers[2] = { isPrimary: true, timeline: 1 }
  await expect(new Checked().connect()).rejects.toMatchObject({ reason: 'old-primary' })
  servers[2] = { isPrimary: true, timeline: 3 }
  await new Checked().connect()
})
