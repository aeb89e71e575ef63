/**
 * Process that uses an embedded PostgreSQL. `user-process.ts <dataDir> hold` starts the server, prints a line of JSON
 * and stops when it reads a line. `user-process.ts <dataDir> come-and-go <pace>` starts, writes a row and stops
 * repeatedly, until it reads a line.
 */
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/index.ts'

const [, , dataDir = '', task, pace = '1'] = process.argv
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const log = (line: string): void => say({ log: line })
const settings = { fsync: 'off', shared_buffers: '16MB' }

const input = createInterface(process.stdin)
let isOver = false
const ordered = new Promise<void>((resolve) => {
  input.once('line', resolve)
  input.once('close', resolve)
}).then(() => (isOver = true))

const hold = async (): Promise<void> => {
  const postgres = await startEmbeddedPostgres({ dataDir, settings, log })
  say({ connectionString: postgres.connectionString })
  await ordered
  await postgres.stop()
  say({ stopped: true })
}

const comeAndGo = async (): Promise<void> => {
  for (let rounds = 1; !isOver; rounds++) {
    const postgres = await startEmbeddedPostgres({ dataDir, settings, log })
    await writeRow(postgres.connectionString)
    // Half of the rounds stop at once, so that a stop often coincides with the next start.
    if (rounds % 2 === 0) await delay((rounds * (7 + 6 * Number(pace))) % 50)
    await postgres.stop()
    say({ rounds })
  }
}

const writeRow = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('insert into visits (visitor) values ($1)', [process.pid])
  await client.end()
}

try {
  await (task === 'hold' ? hold() : comeAndGo())
} catch (error) {
  say({ error: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
input.close()
process.stdin.unref()
