import type { Database, Server } from './postgres.ts'

/** Counter of the execution time of each kind of statement. */
export interface Statements {
  reset(): Promise<void>
  /** Share of the execution time of all statements since the reset, by stage; largest first. */
  shares(): Promise<readonly { readonly stage: string; readonly share: number }[]>
}

/** Patterns of statement texts. The first match determines the stage of a statement. */
const stages: readonly (readonly [RegExp, string])[] = [
  [/^\s*(?:begin|commit|rollback|set|select pid)\b|as idle|count\(\*\) from message/i, 'none'],
  [/insert into send\b/, 'accept'],
  [/insert into claimed_batch\b/, 'claim'],
  [/insert into message \(/, 'record'],
  [/update claimed_batch set marked/, 'mark'],
  [/update message_p\d+|message_p\d+ m where|unmatched_delivery_receipt|newest/, 'receipts'],
  [/join message m on m\.id = any|array_agg\(u\.id\)/, 'status'],
  [/join suppression|"?suppression"?/, 'screen'],
  [/"account"|"api_key"|from account\b/, 'account and key'],
  [/lease_block|lease_shared/, 'lease of ids'],
]

/**
 * Starts counting the statements of new connections to the database. Returns undefined if the server cannot count
 * statements.
 */
export async function countStatements(server: Server, database: Database): Promise<Statements | undefined> {
  const [row] = await server.query<{ shared_preload_libraries: string }>('show shared_preload_libraries')
  if (row?.shared_preload_libraries.includes('pg_stat_statements') !== true) return undefined
  await database.query('create extension if not exists pg_stat_statements')
  await database.query(
    `do $$ begin execute format('alter database %I set pg_stat_statements.track = top', current_database()); end $$`,
  )
  return {
    reset: async () => {
      await database.query('select pg_stat_statements_reset()')
    },
    shares: async () => {
      const rows = await database.query<{ query: string; ms: number }>(
        `select query, total_exec_time + total_plan_time ms from pg_stat_statements
        where dbid = (select oid from pg_database where datname = current_database())`,
      )
      return sharesOf(rows)
    },
  }
}

function sharesOf(rows: readonly { readonly query: string; readonly ms: number }[]) {
  const times = new Map<string, number>()
  for (const { query, ms } of rows) {
    const stage = stages.find(([pattern]) => pattern.test(query))?.[1] ?? 'everything else'
    if (stage !== 'none') times.set(stage, (times.get(stage) ?? 0) + ms)
  }
  const all = [...times.values()].reduce((sum, ms) => sum + ms, 0)
  return [...times].map(([stage, ms]) => ({ stage, share: ms / all })).sort((a, b) => b.share - a.share)
}
