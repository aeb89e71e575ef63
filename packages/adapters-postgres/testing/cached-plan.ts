import { Client } from 'pg'
import { hotPlans } from '../src/pools.ts'

/** Step of a plan, with figures over all its runs. */
export interface Step {
  readonly how: string
  readonly table: string | undefined
  /** Rows that the step returned or that its conditions removed. */
  readonly rows: number
  /**
   * Number of index descents. PostgreSQL 18 may make one descent for each value of a column without a condition (skip
   * scan).
   */
  readonly searches: number
  readonly runs: number
}

/**
 * Connection with the settings of the hot connections. Records all executed plans, including those inside functions.
 */
export interface WatchedConnection {
  readonly client: Client
  /** Runs `work` and rolls it back. Returns the steps of every statement that `work` ran, except those of triggers. */
  watch(work: (client: Client) => Promise<unknown>): Promise<readonly Step[]>
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'CTE Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Index Searches'?: number
  readonly Plans?: readonly Node[]
}

/** Opens a watched connection. Its role must be allowed to load `auto_explain`. */
export async function watchedConnection(connectionString: string): Promise<WatchedConnection> {
  const client = new Client({ connectionString })
  await client.connect()
  const settings = {
    ...hotPlans,
    statement_timeout: '3000',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
  }
  const sets = Object.entries(settings).map(([name, value]) => `set ${name} = ${value}`)
  await client.query(`load 'auto_explain'; ${sets.join(';')}`)
  let steps: Step[] = []
  client.on('notice', ({ message = '' }) => {
    const plan = /plan:\n([^]*)$/.exec(message)?.[1]
    if (plan !== undefined) steps.push(...stepsOf((JSON.parse(plan) as { Plan: Node }).Plan))
  })
  return {
    client,
    watch: async (work) => {
      await client.query('begin')
      steps = []
      try {
        await work(client)
        return steps
      } finally {
        await client.query('rollback')
      }
    },
  }
}

function stepsOf(node: Node): readonly Step[] {
  const below = (node.Plans ?? []).flatMap(stepsOf)
  const runs = node['Actual Loops']
  if (runs === 0) return below
  const removed = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'] as const
  const rows = removed.reduce((sum, kind) => sum + (node[kind] ?? 0), node['Actual Rows'])
  const table = node['Relation Name'] ?? node['CTE Name']
  const searches = node['Index Searches'] ?? 0
  return [{ how: node['Node Type'], table, rows: Math.round(rows * runs), searches, runs }, ...below]
}
