import { availableParallelism } from 'node:os'
import {
  eventLoopBusy,
  keysOfFolder,
  nodeSecrets,
  type NodeSecrets,
  type NodeSecretsSettings,
} from '@gateway/adapters-node'
import {
  createBackup,
  type CreatedBackup,
  type DatabaseClock,
  postgresPorts,
  type PostgresPorts,
} from '@gateway/adapters-postgres'
import type { Ports } from '@gateway/core'
import { openDatabase } from '@gateway/embedded-postgres'
import {
  createTracing,
  databaseSettings,
  extraAuthorities,
  type ConfiguredCertificates,
  type HealthSettings,
  loginSettings,
  type ProcessContext,
  type Variables,
  warnOfFailedLogins,
} from '@gateway/server'
import { dataDirCompanions } from './configuration.ts'
import { tracePorts } from './trace-ports.ts'
import { type WebhookEnvironment, webhookPorts } from './variables.ts'

export interface DatabaseEnvironment extends Readonly<Parameters<typeof databaseSettings>[0]>, WebhookEnvironment {
  readonly DATABASE_URL: string | undefined
}

/** Context of a process whose environment has at least these variables. */
export type ContextWith<Environment> = Omit<ProcessContext<Variables>, 'environment'> & {
  readonly environment: Environment
}

export interface Opened {
  readonly ports: Ports & PostgresPorts['ports'] & { readonly secrets: NodeSecrets; readonly clock: DatabaseClock }
  readonly health: HealthSettings
  readonly figures: PostgresPorts['figures']
  readonly vitals: PostgresPorts['vitals']
  readonly runExclusively: PostgresPorts['runExclusively']
  /**
   * Writes a backup into a folder. `between` is called between two parts; it may wait, or throw to end the backup,
   * which then leaves no file.
   */
  readonly backUp: (folder: string, between: () => Promise<void>) => Promise<CreatedBackup>
  /** Certificates of the database connection and of NODE_EXTRA_CA_CERTS, for expiry warnings. */
  readonly certificates: readonly ConfiguredCertificates[]
}

/** Returns the settings for password checks from the environment. Failed log-ins are logged as warnings. */
export const loginsOf = ({
  environment,
  log,
}: Pick<ContextWith<Parameters<typeof loginSettings>[0]>, 'environment' | 'log'>): NodeSecretsSettings => ({
  ...loginSettings(environment),
  reportFailures: warnOfFailedLogins(log),
})

/**
 * On one or two processors, hashes run only while the event loop is not busy, because they would use all processors.
 */
const hashing = availableParallelism() > 2 ? {} : { isBusy: eventLoopBusy() }

/** Opens the database of the environment, brings its schema up to date, and closes it when the process stops. */
export async function openPorts(
  context: ContextWith<DatabaseEnvironment>,
  logins?: NodeSecretsSettings,
): Promise<Opened> {
  const { environment, log, stopping, onStop, useClock } = context
  const { DATABASE_URL, DATA_DIR } = environment
  if (environment.SECRETS_KEY.length === 0) keysOfFolder(DATA_DIR)
  const tracing = createTracing()
  if (tracing !== undefined) onStop('traces', tracing.flush)
  const database = await openDatabase({
    url: DATABASE_URL,
    dataDir: DATA_DIR,
    companions: dataDirCompanions,
    signal: stopping,
    log: (line) => log.info(line),
  })
  onStop('database', () => database.stop())
  const { connectionString } = database
  const postgres = postgresPorts({ connectionString, log, settings: databaseSettings(environment) })
  onStop('connections', () => postgres.close())
  await postgres.checkServer()
  const { clock } = postgres
  useClock(clock)
  await clock.compare()
  await postgres.migrate()
  const { loginFailures } = postgres.ports.people
  const stored = { ...postgres.ports, ...webhookPorts(environment, clock) }
  return {
    ports: {
      ...(tracing === undefined ? stored : tracePorts(stored, tracing)),
      clock,
      secrets: nodeSecrets({ ...hashing, ...logins, loginFailures }),
    },
    health: { checks: { database: async () => (await postgres.trouble()) ?? true }, stopping },
    figures: postgres.figures,
    vitals: postgres.vitals,
    runExclusively: postgres.runExclusively,
    backUp: (folder, between) => createBackup({ from: connectionString, folder, between, progress: () => undefined }),
    certificates: [...postgres.certificates, ...extraAuthorities()],
  }
}
