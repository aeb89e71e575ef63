import { until } from '@gateway/core/testing'
import { Client } from 'pg'
import { freshDatabase, type FreshDatabase } from '../testing/fresh-database.ts'
import { postgresPorts, type PostgresPorts } from './postgres-ports.ts'

let database: FreshDatabase
let processes: PostgresPorts[]
beforeEach(async () => {
  database = await freshDatabase()
  processes = [1, 2, 3].map(() => postgresPorts({ connectionString: database.connectionString }))
})
afterEach(async () => {
  await Promise.all(processes.map((each) => each.close()))
  await database.drop()
})

const query = async (text: string) => {
  const client = new Client({ connectionString: database.connectionString })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

const does = (work: () => unknown) => (): Promise<void> => {
  work()
  return Promise.resolve()
}

test('of several processes one at a time runs the work; work of another name is not delayed', async () => {
  const order: string[] = []
  let end: () => void = () => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const [first, second, third] = processes as [PostgresPorts, PostgresPorts, PostgresPorts]
  const one = first.runExclusively('this', async () => {
    order.push('one begins')
    await ended
    order.push('one ends')
  })
  await until(() => order.length === 1)
  const two = second.runExclusively(
    'this',
    does(() => order.push('two')),
  )
  await third.runExclusively(
    'that',
    does(() => order.push('that')),
  )
  end()
  await Promise.all([one, two])
  expect(order).toEqual(['one begins', 'that', 'one ends', 'two'])
})

test('an error of the work is thrown, and releases the name', async () => {
  const [first, second] = processes as [PostgresPorts, PostgresPorts, PostgresPorts]
  await expect(first.runExclusively('this', () => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck')
  let done = false
  await second.runExclusively(
    'this',
    does(() => (done = true)),
  )
  expect(done).toBe(true)
})

test('a wait for the name ends when the process closes, and so does a waiting migration', async () => {
  const [first, second] = processes as [PostgresPorts, PostgresPorts, PostgresPorts]
  let end: () => void = () => undefined
  let begun = false
  const one = first.runExclusively('this', () => ((begun = true), new Promise<void>((resolve) => (end = resolve))))
  await until(() => begun)
  await query('delete from schema_migration where version = (select max(version) from schema_migration)')
  const blocker = new Client({ connectionString: database.connectionString })
  await blocker.connect()
  await blocker.query(`begin; select pg_advisory_xact_lock('schema_migration'::regclass::oid::bigint)`)
  const waiting = Promise.allSettled([second.runExclusively('this', () => Promise.resolve()), second.migrate()])
  await until(async () => {
    const { rowCount } = await query(
      `select from pg_stat_activity where application_name in ('gateway exclusive', 'gateway migrate') and wait_event_type = 'Lock'
       and datname = current_database()`,
    )
    return (rowCount ?? 0) >= 2
  })
  await second.close()
  processes.splice(1, 1)
  expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await blocker.end()
  end()
  await one
})
