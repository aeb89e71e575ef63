import { readdirSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { testServer } from '../testing/fresh-database.ts'

const docs = new URL('../../../docs/', import.meta.url)
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))

/** Returns the SQL statements of a page, from its code blocks and from the code in its sentences. */
function statementsOf(page: string): readonly string[] {
  const text = readFileSync(new URL(page, docs), 'utf8')
  const blocks = Array.from(text.matchAll(/^ *```sql\n([\s\S]*?)^ *```/gm), ([, sql = '']) => sql)
  const inline = text.matchAll(/`((?:select|create (?:role|database)|alter (?:database|role|system)) [^`]+)`/g)
  return [...blocks, ...Array.from(inline, ([, sql = '']) => sql)].flatMap((sql) =>
    sql
      .split(';')
      .map((one) => one.replace(/\s+/g, ' ').replaceAll('…', 'x').trim())
      .filter((one) => one !== ''),
  )
}

const statements = pages.flatMap((page) => statementsOf(page).map((sql) => ({ page, sql })))
const client = new Client({ connectionString: testServer() })
beforeAll(() => client.connect())
afterAll(() => client.end())

/**
 * Returns the error of a statement, if there is one. Queries are planned and other statements are parsed; none is run.
 */
const problemOf = (sql: string): Promise<string | undefined> =>
  client.query(/^select/.test(sql) ? `explain ${sql}` : `do $do$ begin if false then ${sql}; end if; end $do$`).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )

test('PostgreSQL accepts every statement on a page', async () => {
  expect(statements.length).toBeGreaterThan(5)
  const wrong: object[] = []
  for (const { page, sql } of statements) {
    const problem = await problemOf(sql)
    if (problem !== undefined) wrong.push({ page, sql, problem })
  }
  expect(wrong).toEqual([])
})

test('a misspelt statement would be detected', async () => {
  expect(await problemOf('select slot_nam from pg_replication_slots')).toMatch(/slot_nam/)
  expect(await problemOf(`create role gateway logn password 'x'`)).toMatch(/logn/)
})

test('the settings of postgresql.conf on a page exist', async () => {
  const blocks = pages.flatMap((page) =>
    Array.from(readFileSync(new URL(page, docs), 'utf8').matchAll(/```ini\n# postgresql\.conf\n([\s\S]*?)```/g)),
  )
  const named = blocks.flatMap(([, block = '']) => Array.from(block.matchAll(/^(\w+) =/gm), ([, name]) => name))
  const { rows } = await client.query<{ name: string }>('select name from pg_settings where name = any($1)', [named])
  expect([named.length > 0, rows.map(({ name }) => name).sort()]).toEqual([true, [...named].sort()])
})
