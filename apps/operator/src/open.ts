import { nodeSecrets, systemClock } from '@gateway/adapters-node'
import { postgresPorts, type PostgresPorts } from '@gateway/adapters-postgres'
import type { Ports } from '@gateway/core'
import { openDatabase } from '@gateway/embedded-postgres'

export interface Opened {
  readonly ports: Ports
  readonly migrate: PostgresPorts['migrate']
  close(): Promise<void>
}

export interface Where {
  readonly DATABASE_URL: string | undefined
  readonly DATA_DIR: string
  readonly STATEMENT_SECONDS: number
  readonly LOCK_SECONDS: number
  readonly CONNECTION_SECONDS: number
}

/** Opens the database of the environment for one command, beside whatever else uses it. The schema is not touched yet. */
export async function open(where: Where, warn: (text: string) => void): Promise<Opened> {
  const database = await openDatabase({ url: where.DATABASE_URL, dataDir: where.DATA_DIR, log: warn })
  const postgres = postgresPorts({
    connectionString: database.connectionString,
    log: { info: () => undefined, warn },
    settings: {
      statementSeconds: where.STATEMENT_SECONDS,
      lockSeconds: where.LOCK_SECONDS,
      connectionSeconds: where.CONNECTION_SECONDS,
      ids: 'shared-block',
    },
  })
  const close = async (): Promise<void> => {
    await postgres.close()
    await database.stop()
  }
  try {
    await postgres.checkServer()
  } catch (problem) {
    await close()
    throw problem
  }
  return {
    ports: { ...postgres.ports, clock: systemClock(), secrets: nodeSecrets() },
    migrate: () => postgres.migrate(),
    close,
  }
}
