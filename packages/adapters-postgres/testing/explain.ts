import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { migrate } from '../src/migrate.ts'
import { hotPlans, ordinaryPlans } from '../src/pools.ts'
import { valuesOf } from '../src/sql/statement.ts'
import { allStatements, type AnyStatement } from './all-statements.ts'
import { fillDatabase } from './filled-database.ts'
import { cases } from './hot-cases.ts'
import { literal } from './plan.ts'

/**
 * Returns the plan of a statement on a database of some 400,000 rows. A statement of the hot connections is run with
 * the values of `hot-cases.ts` and rolled back. Any other statement is only planned, for unknown values. The plan of a
 * statement that calls a function does not show the statements inside the function.
 */
async function explain(statement: AnyStatement): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-explain-'))
  await chmod(folder, 0o755) // for the user that PostgreSQL runs as if this process is root
  const server = await startEmbeddedPostgres({ dataDir: folder, settings: { fsync: 'off' } })
  try {
    await migrate(server.connectionString)
    await fillDatabase(server.connectionString)
    return await planOf(server.connectionString, statement)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function planOf(connectionString: string, statement: AnyStatement): Promise<string> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query('vacuum analyze')
    const known = Object.values(cases).find((one) => one.statement === statement)
    const settings = Object.entries(known === undefined ? ordinaryPlans : hotPlans)
    await client.query(settings.map(([name, value]) => `set ${name} = ${value}`).join('; '))
    await client.query(known === undefined ? 'begin' : `begin; prepare explained as ${statement.text}`)
    const values = known === undefined ? [] : valuesOf(statement, known.values as never).map(literal)
    const list = values.length === 0 ? '' : `(${values.join(', ')})`
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      known === undefined
        ? `explain (generic_plan) ${statement.text}`
        : `explain (analyze, buffers) execute explained${list}`,
    )
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    await client.end()
  }
}

const statements = new Map((await allStatements()).map((statement) => [statement.name, statement]))
const [name] = process.argv.slice(2)
const statement = statements.get(name ?? '')
if (statement === undefined) {
  if (name !== undefined) process.exitCode = 1
  const withValues = new Set(Object.values(cases).map((one) => one.statement.name))
  const lines = [...statements.keys()].sort().map((known) => `  ${known}${withValues.has(known) ? '' : ' (not run)'}`)
  console.log(`${name === undefined ? '' : `no statement ${name}; `}explain NAME, one of:\n${lines.join('\n')}`)
} else {
  // Names of `$1` and so on in the plan.
  const names = Object.entries(statement.parameters ?? {}).map(([one, type], i) => `$${i + 1} ${one}: ${type}`)
  console.log([...names, '', await explain(statement)].join('\n'))
}
