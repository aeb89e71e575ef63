import { Client } from 'pg'
import type { Msisdn } from '@gateway/core/messages'
import { allStatements, type AnyStatement } from '../../testing/all-statements.ts'
import { describeStatement } from '../../testing/describe.ts'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { column, fromRow, nullable, sql, statement, valuesOf, type RowOf } from './statement.ts'

test('parameters get numbers and types in the order of their declaration', () => {
  const { text } = statement(
    'a',
    { parameters: { dispatcher: 'bigint', ids: 'int[]' } },
    sql`select (:ids)[2], :dispatcher::text || ' ' from t where id = any (:ids)`,
  )
  expect(text).toBe(`select ($2::int[])[2], $1::bigint::text || ' ' from t where id = any ($2::int[])`)
})

test('fragments are inserted unchanged', () => {
  const fragment = sql`id = :id`
  const made = statement('a', { parameters: { id: 'int' } }, sql`select ${1} from t where ${fragment}`)
  expect(made.text).toBe('select 1 from t where id = $1::int')
})

test.each([
  ['a name that is not declared', sql`select :ids, :other`],
  ['a slice of an array without a space', sql`select numbers[1:n] from t where id = any (:ids)`],
  ['an element without parentheses, which the server would read as a type', sql`select :ids[1]`],
  ['a parameter that is not used', sql`select 1`],
])('%s is refused when the module is loaded', (_, text) => {
  expect(() => statement('a', { parameters: { ids: 'int[]' } }, text)).toThrow('statement a')
})

test('values are passed in the order of the parameters, arrays and times as text, undefined as null', () => {
  const number = '27820000001' as Msisdn
  const made = statement(
    'a',
    {
      parameters: {
        number: 'bigint',
        name: 'text?',
        ids: 'bigint[]',
        numbers: 'bigint?[]',
        texts: 'text?[]',
        at: 'timestamptz',
        times: 'timestamptz?[]',
        isDone: 'bool?',
        until: 'timestamptz?',
      },
    },
    sql`select :number, :name, :ids, :numbers, :texts, :at, :times, :isDone, :until`,
  )
  expect(
    valuesOf(made, {
      until: undefined,
      isDone: false,
      number,
      name: undefined,
      ids: [1, number],
      numbers: [undefined, 2, null],
      texts: ['a "b"', undefined],
      at: 0,
      times: [0, undefined],
    }),
  ).toEqual([
    '27820000001',
    null,
    '{1,27820000001}',
    '{null,2,null}',
    '{"a \\"b\\"",null}',
    '1970-01-01T00:00:00.000Z',
    '{"1970-01-01T00:00:00.000Z",null}',
    false,
    null,
  ])
})

test('the rows of a statement have the types of its columns, and null becomes undefined', () => {
  const made = statement(
    'a',
    {
      parameters: {},
      columns: { number: column<Msisdn>('text'), count: 'int?' },
      joined: { id: 'bigint', name: nullable(column<'first' | 'second'>('text')) },
    },
    sql`select`,
  )
  expect(made.columns).toEqual({ number: 'text', count: 'int?', id: 'bigint', name: 'text' })
  const number = '27820000001' as Msisdn
  const rows: readonly RowOf<typeof made>[] = [
    { number, count: 1, id: 2, name: null },
    { number, count: null, id: null, name: null },
  ]
  // @ts-expect-error -- a left join has all of its columns or none
  const wrong: RowOf<typeof made> = { number, count: 1, id: null, name: 'first' }
  expect(wrong).toBeDefined()
  const joined = rows.filter((row) => row.id !== null).map(({ id }): number => id)
  expect(joined).toEqual([2])
  expect(rows.map(fromRow)).toEqual([
    { number, count: 1, id: 2, name: undefined },
    { number, count: undefined, id: undefined, name: undefined },
  ])
})

describe('on a server', () => {
  const open = {} as { database: FreshDatabase; client: Client; statements: readonly AnyStatement[] }

  beforeAll(async () => {
    const database = await freshDatabase()
    const client = new Client({ connectionString: database.connectionString })
    await client.connect()
    await client.query('select add_partition(1)')
    Object.assign(open, { database, client, statements: await allStatements() })
  })

  afterAll(async () => {
    await open.client.end()
    await open.database.drop()
  })

  test('every statement has the declared parameters and columns with their types', async () => {
    for (const one of open.statements) {
      expect({ name: one.name, ...(await describeStatement(open.client, one)) }).toEqual({
        name: one.name,
        parameters: Object.values(one.parameters ?? {}).map(withoutNull),
        columns: Object.fromEntries(Object.entries(one.columns ?? {}).map(([name, type]) => [name, withoutNull(type)])),
      })
    }
  })

  test('a column with a wrong declaration is detected', async () => {
    const wrong = statement(
      'a',
      { parameters: {}, columns: { id: 'int' } },
      sql`
      select 1::bigint as id`,
    )
    expect((await describeStatement(open.client, wrong)).columns).not.toEqual(wrong.columns)
  })
})

const withoutNull = (type: string): string => type.replace('?', '')
