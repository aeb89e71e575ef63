import { Client } from 'pg'
import { watchedConnection, type Step, type WatchedConnection } from '../testing/cached-plan.ts'
import { emptied, fillDatabase, filledDatabase, stopAutovacuum, vacuumAll } from '../testing/filled-database.ts'
import { valuesOf } from './sql/statement.ts'
import { literal } from '../testing/plan.ts'
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { allStatements } from '../testing/all-statements.ts'
import { callers, cases, functions, ordinary, withoutTables, type Case } from '../testing/hot-cases.ts'

interface Open {
  readonly database: FreshDatabase
  readonly client: Client
  readonly hot: WatchedConnection
}

const all = Object.entries(cases)
const calls = Object.entries(functions)

const execution = ({ statement, values }: Case): string => {
  const list = valuesOf(statement, values as never)
    .map(literal)
    .join(', ')
  return `execute "${statement.name}" ${list && `(${list})`}`
}

/**
 * Prepares all statements, so that the server keeps plans made for the current tables. The statements are explained and
 * not run, because running them would leave pages in the tables.
 */
async function cachePlans({ client }: WatchedConnection): Promise<void> {
  for (const [, one] of all) {
    await client.query(`prepare "${one.statement.name}" as ${one.statement.text}`)
    await client.query(`explain ${execution(one)}`)
  }
  for (const [call] of calls) await client.query(`begin; ${call}; rollback`)
}

test('every statement has a case, or is listed as one of the ordinary connections or as one that reads no table', async () => {
  const known = [...all.map(([, { statement }]) => statement.name), ...callers, ...ordinary, ...withoutTables]
  expect((await allStatements()).map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([])
})

describe.each(['before the first row', 'while nothing waits'] as const)('with plans made %s', (state) => {
  const open = {} as Open

  beforeAll(async () => {
    const isFilled = state === 'while nothing waits'
    const database = await (isFilled ? filledDatabase() : freshDatabase())
    const { connectionString } = database
    const client = new Client({ connectionString })
    await client.connect()
    await client.query('select add_partition(3)')
    await stopAutovacuum(client)
    const putBack = isFilled ? await emptied(client) : () => fillDatabase(connectionString)
    await vacuumAll(client)
    const hot = await watchedConnection(connectionString)
    await cachePlans(hot)
    await putBack()
    Object.assign(open, { database, client, hot })
  }, 120_000)

  afterAll(async () => {
    await open.hot.client.end()
    await open.client.end()
    await open.database.drop()
  })

  test.each(all)('%s reads only the rows that it needs', async (_, one) => {
    const steps = await open.hot.watch((client) => client.query(execution(one)))
    expect(large(steps, 5 * one.rowsMax + 1000)).toEqual([])
  })

  test.each(calls)('%s reads only the rows that it needs', async (call) => {
    const steps = await open.hot.watch((client) => client.query(call))
    expect(large(steps, 10_000)).toEqual([])
  })
})

function large(steps: readonly Step[], rowsMax: number): readonly Step[] {
  return steps.filter(({ rows, searches }) => Math.max(rows, searches) > rowsMax)
}
