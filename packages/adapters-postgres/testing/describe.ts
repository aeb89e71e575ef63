import type { Client } from 'pg'
import type { Statement } from '../src/sql/statement.ts'

/** What a server says of a statement: the names of the types, of the columns that have a value. */
export interface Description {
  readonly parameters: readonly string[]
  readonly columns: Readonly<Record<string, string>>
}

const types: Readonly<Record<number, string>> = {
  16: 'bool',
  17: 'bytea',
  20: 'bigint',
  21: 'smallint',
  23: 'int',
  25: 'text',
  114: 'json',
  3802: 'json',
  701: 'float8',
  1000: 'bool[]',
  1005: 'smallint[]',
  1007: 'int[]',
  1009: 'text[]',
  1016: 'bigint[]',
  1022: 'float8[]',
  1115: 'timestamp[]',
  1184: 'timestamptz',
  1185: 'timestamptz[]',
  1700: 'numeric',
  2950: 'uuid',
  2951: 'uuid[]',
}
/** What a function without a result returns, such as `pg_notify`. */
const nothing = 2278
const nameOf = (oid: number): string => types[oid] ?? `type ${oid}`

interface Described {
  readonly dataTypeIDs: readonly number[]
}

/** The part of the driver's connection that speaks the protocol. */
interface Protocol {
  parse(query: { readonly name: string; readonly text: string }): void
  describe(what: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  once(event: 'parameterDescription', told: (message: Described) => void): void
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** Has the server parse a statement, without running it. */
export const describeStatement = (client: Client, { text }: Statement<never, unknown>): Promise<Description> =>
  new Promise((resolve, reject) => {
    let parameters: readonly string[] = []
    const columns: Record<string, string> = {}
    const query = {
      submit: (connection: Protocol) => {
        connection.once('parameterDescription', ({ dataTypeIDs }) => (parameters = dataTypeIDs.map(nameOf)))
        connection.parse({ name: '', text })
        connection.describe({ type: 'S', name: '' })
        connection.sync()
      },
      handleRowDescription: ({ fields }: { readonly fields: readonly Field[] }) => {
        for (const { name, dataTypeID } of fields) if (dataTypeID !== nothing) columns[name] = nameOf(dataTypeID)
      },
      handleError: (error: Error) => reject(error),
      handleReadyForQuery: () => resolve({ parameters, columns }),
    }
    client.query(query as never)
  })
