import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { migrate } from '../src/migrate.ts'

export interface FreshDatabase {
  readonly connectionString: string
  drop(): Promise<void>
}

/** The server that the test run has started. */
export function testServer(): string {
  const server = process.env['GATEWAY_TEST_DATABASE']
  if (server === undefined) throw new Error('no test database: these tests run under jest with its globalSetup')
  return server
}

/**
 * Tables of its own, migrated and empty, apart from those of all other tests: a schema, found by the search path, which
 * takes half as long to make as a copy of a database.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  const blank = await blankDatabase()
  await migrate(blank.connectionString)
  return blank
}

/** The same before any migration. */
export async function blankDatabase(): Promise<FreshDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(`create schema ${name}`)
  const server = testServer()
  const options = encodeURIComponent(`-c search_path=${name}`)
  return {
    connectionString: `${server}${server.includes('?') ? '&' : '?'}options=${options}`,
    drop: () => onServer(`drop schema ${name} cascade`),
  }
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: testServer() })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
