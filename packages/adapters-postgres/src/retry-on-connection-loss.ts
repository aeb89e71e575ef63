import type { Connections } from './connections.ts'
import { isLostAnswer } from './errors.ts'
import type { PreparedStatement } from './sql/prepared-statement.ts'

/** More than there are connections that one cut can have broken. */
const attemptsMax = 20
/** From then on the database is not broken but away, which the caller should know. */
const patienceMilliseconds = 15_000

/**
 * Runs a statement that does nothing twice, and runs it again if its answer was lost; `lost` is told before. If the
 * database cannot be reached it throws: the caller may ask again later.
 */
export async function retryOnConnectionLoss<Row>(
  connections: Connections,
  statement: PreparedStatement<Row>,
  values: readonly unknown[],
  lost: () => void = () => undefined,
): Promise<Row[]> {
  return retryWorkOnConnectionLoss(() => connections.run(statement, values), lost)
}

/** The same for work that is more than one statement. */
export async function retryWorkOnConnectionLoss<T>(
  work: () => Promise<T>,
  lost: () => void = () => undefined,
): Promise<T> {
  const end = performance.now() + patienceMilliseconds
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLostAnswer(error) || attempt === attemptsMax || performance.now() > end) throw error
      lost()
    }
  }
}
