import type { Connections } from './connections.ts'
import { isLostAnswer } from './errors.ts'
import type { HotStatement } from './sql/hot-statement.ts'

/** More than there are connections that one cut can have broken. */
const attemptsMax = 20

/**
 * Runs a statement that does nothing twice, and runs it again if its answer was lost; `lost` is told before. If the
 * database cannot be reached it throws: the caller may ask again later.
 */
export async function again<Row>(
  connections: Connections,
  statement: HotStatement<Row>,
  values: readonly unknown[],
  lost: () => void = () => undefined,
): Promise<Row[]> {
  return whileLost(() => connections.run(statement, values), lost)
}

export async function whileLost<T>(work: () => Promise<T>, lost: () => void = () => undefined): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLostAnswer(error) || attempt === attemptsMax) throw error
      lost()
    }
  }
}
