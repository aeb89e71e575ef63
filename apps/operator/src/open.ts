import { nodeSecrets, systemClock } from '@gateway/adapters-node'
import { postgresPorts, type PostgresPorts } from '@gateway/adapters-postgres'
import type { Ports } from '@gateway/core'
import { openDatabase } from '@gateway/embedded-postgres'
import { databaseSettings, type databaseVariables, type Environment, type processVariables } from '@gateway/server'

export interface Opened {
  readonly ports: Ports
  readonly migrate: PostgresPorts['migrate']
  close(): Promise<void>
}

type Where = Environment<typeof processVariables & typeof databaseVariables>

/** Opens the database of the environment for one command, beside whatever else uses it. The schema is not touched yet. */
export async function open(where: Where, warn: (text: string) => void): Promise<Opened> {
  const database = await openDatabase({ url: where.DATABASE_URL, dataDir: where.DATA_DIR, log: warn })
  const postgres = postgresPorts({
    connectionString: database.connectionString,
    log: { info: () => undefined, warn },
    settings: { ...databaseSettings(where), ids: 'shared-block' },
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
