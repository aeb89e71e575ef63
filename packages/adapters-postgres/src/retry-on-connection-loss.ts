import type { Connections } from './connections.ts'
import { isLostAnswer } from './errors.ts'
import type { Statement } from './sql/statement.ts'

/** Maximum number of attempts. It exceeds the number of connections of a process that one outage can have broken. */
const attemptsMax = 20

/**
 * Runs an idempotent statement. If the connection breaks before its answer, it calls `lost` and runs the statement
 * again. After a repetition it also waits until the standby has the data, because the first run may have committed on
 * the primary only. Throws if the database cannot be reached; the caller may call it again later.
 */
export async function retryOnConnectionLoss<Values, Row>(
  connections: Connections,
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
  lost: () => void = () => undefined,
): Promise<Row[]> {
  return retryWorkOnConnectionLoss(connections, () => connections.run(statement, values), lost)
}

/** Does the same as `retryOnConnectionLoss` for work of several statements. */
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
