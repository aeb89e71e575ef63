import { readFileSync } from 'node:fs'
import { mkdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Chance } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { twoServers, type LoneServer, type TwoServers } from '../../packages/adapters-postgres/testing/two-servers.ts'
import type { Database } from '../faults/database.ts'
import { openRelay, type Network, type Relay } from '../faults/network.ts'
import { copyCluster } from '../support/process.ts'

/** Primary with a standby. All processes reach each of them over a relay, and a third relay connects the two. */
export interface Pair extends Database {
  readonly servers: TwoServers
  /** Relays to the servers; `replication` connects the standby to the primary. */
  readonly ways: Readonly<Record<'primary' | 'standby' | 'replication', Relay>>
  /** Suspends the check of liveness for this many milliseconds. */
  disturb(milliseconds: number): void
  promote(): Promise<void>
  network(): Network
}

/** Starts a primary and its standby. All settings that affect durability are those of production. */
export async function openPair(folder: string, chance: Chance): Promise<Pair> {
  const template = join(folder, 'template')
  await mkdir(template)
  // Copies the empty cluster of the test run, because creating a new one takes seconds.
  await copyCluster(template)
  const embedded = await startEmbeddedPostgres({ dataDir: template })
  const pid = Number(readFileSync(join(template, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const postgres = await readlink(`/proc/${pid}/exe`)
  await embedded.stop()

  let replication: Relay | undefined
  const servers = await twoServers({
    parent: folder,
    cluster: template,
    postgres,
    settings: { fsync: 'on' },
    wayTo: async (socket) => {
      replication = await openRelay({ path: socket }, chance)
      return { host: '127.0.0.1', port: replication.port }
    },
  })
  const wayTo = ({ host }: LoneServer): Promise<Relay> => openRelay({ path: `${host}/.s.PGSQL.5432` }, chance)
  const [primary, standby] = [await wayTo(servers.primary), await wayTo(servers.standby)]
  if (replication === undefined) throw new Error('the standby follows without a way')
  const ways = { primary, standby, replication }
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`)
  const connectionString = `postgres://gateway@${hosts.join(',')}/gateway?target_session_attrs=read-write&sslmode=disable`
  let current = servers.primary
  let disturbedUntil = 0

  async function once<Row>(text: string, milliseconds: number): Promise<Row[]> {
    const limits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds }
    const client = new Client({ connectionString: current.connectionString, ...limits })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query(text)).rows as Row[]
    } finally {
      void client.end().catch(() => undefined)
    }
  }

  async function ask<Row>(text: string): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once<Row>(text, 10_000)
      } catch (error) {
        if (attempt === 300 || /^(?:42|22)/.test((error as { code?: string }).code ?? '')) throw error
        await delay(100)
      }
    }
  }

  const none = () => undefined
  const notHere = () => Promise.reject(new Error('one of two servers is not restarted'))
  return {
    servers,
    ways,
    connectionString,
    ask,
    probe: <Row>(text: string) => once<Row>(text, 1000).catch(() => undefined),
    restart: notHere,
    killAll: () => servers.primary.kill(),
    back: notHere,
    disturb: (milliseconds) => (disturbedUntil = performance.now() + milliseconds),
    promote: async () => {
      await servers.promote()
      current = servers.standby
    },
    network: () => ({
      connectionString,
      cut: () => 0,
      cutAt: none,
      flaky: none,
      stall: none,
      calm: none,
      disturbedUntil: () => disturbedUntil,
      connectedSince: () => 0,
      cuts: () => 0,
      close: () => Promise.resolve(),
    }),
    stop: async () => {
      servers.primary.thaw()
      await servers.remove()
      await Promise.all(Object.values(ways).map((way) => way.close()))
    },
    remove: () => removeCluster(template),
  }
}
