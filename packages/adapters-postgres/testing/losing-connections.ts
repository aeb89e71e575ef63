import type { Connection, Connections } from '../src/connections.ts'
import { lostAnswer } from '../src/errors.ts'
import type { HotStatement } from '../src/sql/hot-statement.ts'

/** When a connection breaks: the statement was not begun, or it was committed and only its answer is missing. */
export type LossMoment = 'before it ran' | 'after it ran'

/** Statements that answer how much they did: what was done in vain is not counted, so that only a loss before it is harmless. */
const counting = new Set(['recover', 'release', 'promote', 'expire', 'match-receipts', 'adopt-receipts'])

/**
 * Connections that lose every other answer of each kind of statement, for each dispatcher: the first one, the third and so
 * on. Answers of a fenced dispatcher arrive: after two misfortunes at once the adapter may know less than the contract says.
 */
export function losingConnections(connections: Connections, moment: LossMoment): Connections {
  const lossy = new Set<string>()

  async function run<Row>(on: Connection, statement: HotStatement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const kind = `${statement.name} ${String(values[0])}`
    if (counting.has(statement.name) && moment === 'after it ran') return on.run(statement, values)
    if (lossy.delete(kind)) return on.run(statement, values)
    lossy.add(kind)
    const rows = moment === 'before it ran' ? [] : await on.run(statement, values)
    if (rows.some((row) => (row as { alive?: boolean }).alive === false)) return rows
    throw lostAnswer({ pid: 0, start: '0' }, new Error(`cut ${moment}`))
  }

  return {
    ...connections,
    run: (statement, values) => run(connections, statement, values),
    transaction: async (work) => {
      const result = connections.transaction(work)
      if (!lossy.delete('transaction')) {
        lossy.add('transaction')
        await result
        throw lostAnswer({ pid: 0, start: '0' }, new Error('cut after the commit'))
      }
      return result
    },
  }
}
