import { Client } from 'pg'
import { hotPlans } from '../src/pools.ts'

/** What one step of a plan went through in all its runs together. */
export interface Step {
  readonly how: string
  readonly table: string | undefined
  /** Rows that it gave and rows that its conditions threw away. */
  readonly rows: number
  /** How often it went down an index. PostgreSQL 18 may do that for each value of a column that is not asked for. */
  readonly searches: number
  readonly runs: number
}

/** A connection as the hot ones are, which tells of all that it runs, in functions too, what that went through. */
export interface WatchedConnection {
  readonly client: Client
  /** Runs `work` and undoes what it did. Returns the steps of every statement that it ran, triggers left out. */
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

/** Needs a role that may load `auto_explain`. */
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
  const thrown = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'] as const
  const rows = thrown.reduce((sum, kind) => sum + (node[kind] ?? 0), node['Actual Rows'])
  const table = node['Relation Name'] ?? node['CTE Name']
  const searches = node['Index Searches'] ?? 0
  return [{ how: node['Node Type'], table, rows: Math.round(rows * runs), searches, runs }, ...below]
}
