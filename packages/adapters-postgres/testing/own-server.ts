import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { until } from '@gateway/core/testing'
import { removeCluster, startEmbeddedPostgres, type Settings } from '@gateway/embedded-postgres'

/** A PostgreSQL of a test's own, with a migrated and empty database: for what a setting of the whole server does. */
export interface OwnServer {
  readonly connectionString: string
  /** For the test itself. */
  readonly client: Client
  readonly dataDir: string
  /** As `alter system` takes them, once the server has read them; what needs a restart is not changed. */
  set(settings: Readonly<Record<string, string>>): Promise<void>
  /** From now on a commit waits for a standby that is not there. */
  loseStandby(): Promise<void>
  /** No commit waits for a standby any more. */
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

  async function set(wanted: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(wanted)) await client.query(`alter system set ${name} = '${value}'`)
    await client.query('select pg_reload_conf()')
  }

  async function loseStandby(): Promise<void> {
    await set({ synchronous_standby_names: 'away' })
    // The server takes it over in its own time: until then a commit does not wait.
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
