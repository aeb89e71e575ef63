import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeFileSync, rmSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { openServer } from './environment/postgres.ts'
import { openEnvironment } from './environment/environment.ts'
import { endAll } from './environment/processes.ts'
import { endWorkers } from './loads/workers.ts'
import { openAccounts } from './environment/accounts.ts'
import { addEndpoint, pushingVariables } from './goals/webhooks-endpoints.ts'
import { living } from './goals/living.ts'
import { measured } from './environment/usage.ts'

const sides = (process.env['SIDES'] ?? 'small').split(',')
const rounds = Number(process.env['ROUNDS'] ?? 5)
const small = Number(process.env['SMALL'] ?? 10000)
const large = Number(process.env['LARGE'] ?? 200000)
const prof = process.env['PROF']
const stats = process.env['STATS'] !== undefined
const median = (a: number[]) => a.toSorted((x, y) => x - y)[a.length >> 1] ?? NaN
const folder = await mkdtemp(join(tmpdir(), 'gw-benchmark-'))
await chmod(folder, 0o755)
const server = await openServer(folder, undefined)
try {
  const environment = await openEnvironment(server, folder, { name: 'zz', quick: false, say: console.log })
  const { database } = environment
  if (stats) {
    await database.query('create extension if not exists pg_stat_statements')
    await database.query(`do $$ begin execute format('alter database %I set pg_stat_statements.track = ${process.env['STATS']}', current_database()); end $$`)
  }
  const receiving = environment.worker()
  const sending = environment.worker()
  const { url } = await receiving.run('receiver', {})
  const rest = await environment.start('rest', pushingVariables)
  const options = [process.env['NODEOPT'] ?? '', prof === undefined ? '' : '--import file:///tmp/pr/profiler.mjs'].join(' ').trim()
  const dispatcher = await environment.start('dispatcher', { ...pushingVariables, ...(options && { NODE_OPTIONS: options }) })
  const [on, s] = await openAccounts(database, 2)
  const endpoints = {
    large: await addEndpoint(rest.url, on!.key, { url, listSize: 100 }),
    small: await addEndpoint(rest.url, s!.key, { url, listSize: 1 }),
  } as Record<string, number>
  await database.query('update webhook set state = 1')
  const messages = sides.includes('large') ? 200_000 : 50_000
  await living(environment, [rest, dispatcher], sending, { keys: [on!.key], connections: 4, recipients: 1000, messages })
  await database.query('create table waiting as select * from webhook_event where webhook_id = $1', [endpoints['large']])
  await database.query('delete from webhook_event')
  await database.query('vacuum webhook_event')
  await rest.stop()
  const all: Record<string, number[][]> = {}
  for (let round = 0; round <= rounds; round++) {
    for (const side of round % 2 ? sides : [...sides].reverse()) {
      const events = side === 'large' ? large : small
      const webhook = endpoints[side]!
      await database.query(
        `insert into webhook_event (webhook_id, type, sequence, at, code, send_first_id, has_reference, count, subjects, msisdns)
    select $1::int, type, sequence, at, code, send_first_id, has_reference, least(count, $2::int - before),
      subjects[:$2::int - before], msisdns[:$2::int - before]
    from (select *, sum(count) over (order by id)::int - count before from waiting) waiting
    where before < $2::int order by id`, [webhook, events])
      if (stats && round > 0) await database.query('select pg_stat_statements_reset()')
      if (prof !== undefined && round > 0) { writeFileSync('/tmp/pr/prof-on', ''); await delay(300) }
      const { result, usage } = await measured(server, [dispatcher], async () => {
        await database.query('update webhook set state = 0 where id = $1', [webhook])
        return receiving.run('received', { events })
      })
      if (prof !== undefined && round > 0) { rmSync('/tmp/pr/prof-on'); await delay(500) }
      await database.query('update webhook set state = 1 where id = $1', [webhook])
      if (result.events !== events) throw new Error(`${result.events} of ${events}`)
      const product = result.requests / result.seconds
      let direct = NaN
      let directCpu = { sender: NaN, receiver: NaN }
      if (process.env['NODIRECT'] === undefined) {
        const sent = await sending.run('directPushes', { url, inFlight: 5, bodies: result.bodies, requests: result.requests })
        const got = await receiving.run('received', { events: 0 })
        direct = got.requests / got.seconds
        directCpu = { sender: sent.cpu / result.requests, receiver: got.cpu / result.requests }
      }
      const n = result.requests
      const row = [product / direct, product, direct, usage.apps[0]! / n, usage.postgres / n, result.cpu / n, directCpu.sender, directCpu.receiver]
      console.log(side, round, `ratio ${row[0]!.toFixed(3)} product ${product.toFixed(0)} direct ${direct.toFixed(0)} | us: dispatcher ${row[3]!.toFixed(1)} pg ${row[4]!.toFixed(1)} receiver ${row[5]!.toFixed(1)} | direct: sender ${row[6]!.toFixed(1)} receiver ${row[7]!.toFixed(1)} wal ${(usage.wal / n).toFixed(0)} util ${((usage.apps[0]! + usage.postgres + result.cpu) / 1e6 / usage.seconds).toFixed(2)}`)
      if (stats && round > 0) {
        const rows = await database.query<{ query: string; ms: number; calls: number; rows: number }>(
          `select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) query, total_exec_time ms, calls::int, rows::int from pg_stat_statements
          where dbid = (select oid from pg_database where datname = current_database()) order by 2 desc limit 8`)
        for (const r of rows) console.log(`    ${(r.ms * 1000 / n).toFixed(2)} us/list, ${r.calls} calls, ${r.rows} rows: ${r.query}`)
      }
      if (round > 0) (all[side] ??= []).push(row)
    }
  }
  for (const side of sides) console.log('MEDIAN', side, (all[side] ?? [[]])[0]!.map((_, i) => median(all[side]!.map((r) => r[i]!)).toFixed(i === 0 ? 3 : 1)).join(' '))
  await environment.end()
} finally {
  endWorkers()
  await endAll()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
