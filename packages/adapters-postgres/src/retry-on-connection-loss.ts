import type { Connections } from './connections.ts'
import { isLostAnswer } from './errors.ts'
import type { Statement } from './sql/statement.ts'

/** More than there are connections that one cut can have broken. */
const attemptsMax = 20

/**
 * Runs a statement that does nothing twice, and runs it again if its answer was lost; `lost` is told before. What then
 * is answered counts once it is confirmed: what the lost one did may wait for a standby. If the database cannot be
 * reached it throws: the caller may ask again later.
 */
export async function retryOnConnectionLoss<Values, Row>(
  connections: Connections,
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
  lost: () => void = () => undefined,
): Promise<Row[]> {
  return retryWorkOnConnectionLoss(connections, () => connections.run(statement, values), lost)
}

/** The same for work that is more than one statement. */
export async function retryWorkOnConnectionLoss<T>(
  connections: Pick<Connections, 'confirm' | 'retrySeconds'>,
  work: () => Promise<T>,
  lost: () => void = () => undefined,
): Promise<T> {
  const end = performance.now() + connections.retrySeconds * 1000
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await work()
      if (attempt > 1) await connections.confirm()
      return result
    } catch (error) {
      if (!isLostAnswer(error) || attempt === attemptsMax || performance.now() > end) throw error
      lost()
    }
  }
}
