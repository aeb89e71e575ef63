import type { Connection, Connections } from '../src/connections.ts'
import { lostAnswer } from '../src/errors.ts'
import { valuesOf, type Statement } from '../src/sql/statement.ts'

/**
 * Statements that return how much they did. If the answer were lost after such a statement ran, the count would be lost
 * too. The simulation therefore loses these statements only before they run.
 */
const counting = new Set(['recover', 'release', 'promote', 'expire', 'match-receipts', 'adopt-receipts'])

/** Losses of one kind of statement for one dispatcher. */
interface Losses {
  count: number
  /** Last lost answer. It is kept until the next statement of the same kind. */
  answer: readonly unknown[] | undefined
  /** Values of the lost statement, so that a statement of another caller does not get its answer. */
  values: unknown
}

/**
 * Makes connections that lose every other answer of each kind of statement for each dispatcher, alternately after the
 * statement has committed and before it begins, and every other answer of each kind of transaction. Does not simulate
 * the loss of an answer together with the end of the dispatcher, because an adapter may then know less than the
 * contract requires. In that case the adapter gets the lost answer.
 */
export function losingConnections(connections: Connections): Connections {
  const kinds = new Map<string, Losses>()

  function lossesOf(kind: string): Losses {
    const losses = kinds.get(kind) ?? { count: 0, answer: undefined, values: undefined }
    kinds.set(kind, losses)
    return losses
  }

  async function run<Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): Promise<Row[]> {
    const losses = lossesOf(kindOf(statement, values))
    const before = losses.answer as Row[] | undefined
    if (before !== undefined) {
      losses.answer = undefined
      const rows = await connections.run(statement, values)
      const isAgain = JSON.stringify(values) === JSON.stringify(losses.values)
      return isAgain && isAlive(before) && !isAlive(rows) ? before : rows
    }
    const isDone = losses.count++ % 2 === 0 && !counting.has(statement.name)
    losses.answer = []
    losses.values = values
    const rows = isDone ? await connections.run(statement, values) : []
    losses.answer = rows
    if (rows.length > 0 && !isAlive(rows)) return rows
    throw lostAnswer(
      { pid: 0, start: '0' },
      new Error(isDone ? 'connection lost after the statement' : 'connection lost before the statement'),
    )
  }

  /**
   * Loses every other answer to transactions whose first statement with values is the same. Counting the transactions
   * of all callers together would lose all answers of one caller, if each of its attempts followed one of another.
   */
  async function transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    let kind: string | undefined
    const result = await connections.transaction((connection) =>
      work({
        run: (statement, values) => {
          if (valuesOf(statement, values).length > 0) kind ??= kindOf(statement, values)
          return connection.run(statement, values)
        },
      }),
    )
    if (lossesOf(`transaction of ${kind}`).count++ % 2 === 1) return result
    throw lostAnswer({ pid: 0, start: '0' }, new Error('cut after the commit'))
  }

  return { ...connections, run, transaction }
}

/** Returns the name of the statement and its first value, which is the dispatcher if it has one. */
const kindOf = <Values, Row>(statement: Statement<Values, Row>, values: NoInfer<Values>): string =>
  `${statement.name} ${String(valuesOf(statement, values)[0])}`

const isAlive = (rows: readonly unknown[]): boolean =>
  rows.length > 0 && rows.every((row) => (row as { alive?: boolean }).alive !== false)
