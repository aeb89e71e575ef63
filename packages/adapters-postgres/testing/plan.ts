import type { Connections } from '../src/connections.ts'
import { valuesOf, type Statement } from '../src/sql/statement.ts'

/** Connection that was taken from its pool. */
export type LentConnection = Awaited<ReturnType<Connections['connect']>>

/** Access to one table in a plan. */
export interface Access {
  readonly table: string
  readonly how: string
  /** Rows read from the table, including those that a filter removed. */
  readonly rows: number
  /** True if the whole table was read, because no condition could find the rows and reading did not stop early. */
  readonly whole: boolean
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly 'TID Cond'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Node[]
}

/**
 * Runs a statement with the plan that it has as a prepared statement, rolls it back, and returns how the statement read
 * the tables. Omits parts of the plan that did not run.
 */
export async function accessesOf<Values>(
  connection: LentConnection,
  statement: Statement<Values, unknown>,
  parameters: NoInfer<Values>,
): Promise<readonly Access[]> {
  const values = valuesOf(statement, parameters)
  await connection.query('begin', [])
  try {
    await connection.query(`prepare explained as ${statement.text}`, [])
    const list = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const { rows } = await connection.query(`explain (analyze, timing off, format json) execute explained${list}`, [])
    const [{ Plan: plan }] = (rows as [{ 'QUERY PLAN': [{ Plan: Node }] }])[0]['QUERY PLAN']
    return accesses(plan)
  } finally {
    await connection.query('rollback', [])
    await connection.query('deallocate all', [])
  }
}

/**
 * Returns the tables that a function read whole. Uses statistics, because PostgreSQL does not show plans inside a
 * function.
 */
export async function scannedBy(connection: LentConnection, call: string): Promise<readonly string[]> {
  // Earlier transactions are counted too until their statistics are flushed, which happens at most once a second.
  await connection.query('select pg_stat_force_next_flush()', [])
  await connection.query('begin', [])
  try {
    await connection.query(call, [])
    const { rows } = await connection.query('select relname from pg_stat_xact_user_tables where seq_scan > 0', [])
    return (rows as { relname: string }[]).map(({ relname }) => relname)
  } finally {
    await connection.query('rollback', [])
  }
}

/** Returns a value as an SQL literal. */
export const literal = (value: unknown): string => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : 'null'
}

function accesses(node: Node): readonly Access[] {
  const below = (node.Plans ?? []).flatMap(accesses)
  const table = node['Relation Name']
  const loops = node['Actual Loops']
  if (table === undefined || loops === 0 || node['Node Type'] === 'ModifyTable' || node['Node Type'] === 'LockRows')
    return below
  const how = node['Node Type']
  const rows =
    loops * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0))
  const condition = node['Index Cond'] ?? node['Recheck Cond'] ?? node['TID Cond']
  const whole = how === 'Seq Scan' || (condition === undefined && rows > 100)
  return [{ table, how, rows, whole }, ...below]
}
