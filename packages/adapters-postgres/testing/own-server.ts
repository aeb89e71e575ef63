import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres, type Settings } from '@gateway/embedded-postgres'

/** PostgreSQL server of one test, with a migrated, empty database, for testing settings of the whole server. */
export interface OwnServer {
  readonly connectionString: string
  /** Connection for the test itself. */
  readonly client: Client
  readonly dataDir: string
  /** Changes settings by `alter system` and reloads them. Settings that need a restart do not change. */
  set(settings: Readonly<Record<string, string>>): Promise<void>
  /** Makes commits wait for a standby that does not exist. */
  loseStandby(): Promise<void>
  /** Lets commits complete again without a standby. */
  needNoStandby(): Promise<void>
  remove(): Promise<void>
}

export async function ownServer(settings: Settings = {}): Promise<OwnServer> {
  const [folder, cluster] = [process.env['GATEWAY_TEST_FOLDER'], process.env['GATEWAY_TEST_CLUSTER']]
  if (folder === undefined || cluster === undefined) throw new Error('no cluster: these tests run under jest')
  const dataDir = await mkdtemp(join(folder, 'server-'))
  await promisify(execFile)('chmod', ['755', dataDir])
  await promisify(execFile)('cp', ['-a', join(cluster, 'postgres'), dataDir])
  const server = await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off', ...settings } })
  const { connectionString } = server
  const client = await connected(connectionString)

  async function set(changes: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(changes)) await client.query(`alter system set ${name} = '${value}'`)
    await client.query('select pg_reload_conf()')
  }

  async function loseStandby(): Promise<void> {
    await set({ synchronous_standby_names: 'away' })
    // Writes repeatedly until a commit waits, because the server applies the setting asynchronously.
    const writer = (await connected(connectionString)) as Client & { readonly processID: number }
    const waits = `select from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'`
    for (let seen = 'answered'; seen === 'answered';) {
      let answered = false
      const written = () => (answered = true)
      writer.query(`select pg_logical_emit_message(true, 'test', '')`).then(written, () => undefined)
      seen = await until(async () => {
        if (answered) return 'answered'
        return (await client.query(waits, [writer.processID])).rowCount === 1 && 'waits'
      })
    }
    await client.query('select pg_terminate_backend($1)', [writer.processID])
    await writer.end().catch(() => undefined)
  }

  return {
    connectionString,
    client,
    dataDir,
    set,
    loseStandby,
    needNoStandby: () => set({ synchronous_standby_names: '' }),
    remove: async () => {
      await client.end()
      await server.stop()
      await removeCluster(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  return client
}
