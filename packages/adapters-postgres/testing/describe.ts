import type { Client } from 'pg'
import type { Statement } from '../src/sql/statement.ts'

/** Types of the parameters and columns of a statement, as the server describes them. Void columns are omitted. */
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
/** Type of the result of a function that returns nothing, such as `pg_notify`. */
const voidType = 2278
const nameOf = (oid: number): string => types[oid] ?? `type ${oid}`

interface Described {
  readonly dataTypeIDs: readonly number[]
}

/** Methods of the driver's connection that send protocol messages. */
interface Protocol {
  parse(query: { readonly name: string; readonly text: string }): void
  describe(target: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  once(event: 'parameterDescription', listener: (message: Described) => void): void
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

/** Lets the server parse and describe a statement without running it. */
export const describeStatement = (
  client: Client,
  { text }: Pick<Statement<never, unknown>, 'text'>,
): Promise<Description> =>
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
        for (const { name, dataTypeID } of fields) if (dataTypeID !== voidType) columns[name] = nameOf(dataTypeID)
      },
      handleError: (error: Error) => reject(error),
      handleReadyForQuery: () => resolve({ parameters, columns }),
    }
    client.query(query as never)
  })
