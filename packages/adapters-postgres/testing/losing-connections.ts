import type { Connection, Connections } from '../src/connections.ts'
import { lostAnswer } from '../src/errors.ts'
import type { HotStatement } from '../src/sql/hot-statement.ts'

/** When a connection breaks: the statement was not begun, or it was committed and only its answer is missing. */
export type LossMoment = 'before it ran' | 'after it ran'

/** Statements that answer how much they did: what was done in vain is not counted, so that only a loss before it is harmless. */
const counting = new Set(['recover', 'release', 'promote', 'expire', 'match-receipts', 'adopt-receipts'])

/**
 * Connections that lose every other answer of each kind of statement, for each dispatcher: the first one, the third and so
 * on. Not simulated is the loss of an answer together with the end of its dispatcher: then an adapter may know less
 * than the contract says, and gets the answer that was lost.
 */
export function losingConnections(connections: Connections, moment: LossMoment): Connections {
  const lost = new Map<string, readonly unknown[]>()

  async function run<Row>(on: Connection, statement: HotStatement<Row>, values: readonly unknown[]): Promise<Row[]> {
    if (counting.has(statement.name) && moment === 'after it ran') return on.run(statement, values)
    const kind = `${statement.name} ${String(values[0])}`
    const before = lost.get(kind) as Row[] | undefined
    if (before !== undefined) {
      lost.delete(kind)
      const rows = await on.run(statement, values)
      return isAlive(before) && !isAlive(rows) ? before : rows
    }
    lost.set(kind, [])
    const rows = moment === 'before it ran' ? [] : await on.run(statement, values)
    lost.set(kind, rows)
    if (rows.length > 0 && !isAlive(rows)) return rows
    throw lostAnswer({ pid: 0, start: '0' }, new Error(`cut ${moment}`))
  }

  return {
    ...connections,
    run: (statement, values) => run(connections, statement, values),
    transaction: async (work) => {
      const result = await connections.transaction(work)
      if (lost.delete('transaction')) return result
      lost.set('transaction', [])
      throw lostAnswer({ pid: 0, start: '0' }, new Error('cut after the commit'))
    },
  }
}

const isAlive = (rows: readonly unknown[]): boolean =>
  rows.length > 0 && rows.every((row) => (row as { alive?: boolean }).alive !== false)
