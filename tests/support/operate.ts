import { nodeSecrets, systemClock } from '../../packages/adapters-node/src/index.ts'
import { postgresPorts } from '@gateway/adapters-postgres'
import type { CarrierId, CarrierMode } from '@gateway/core/dispatch'
import { webhookPorts, webhookVariables } from '../../packages/composition/src/index.ts'
import { openDatabase } from '@gateway/embedded-postgres'
import { processVariables, readEnvironment } from '../../packages/server/src/index.ts'
import { runCommandLine, type Opened } from '../../apps/operator/src/run-command-line.ts'
import { patientSettings } from '../../packages/adapters-postgres/testing/patient-settings.ts'
import { textOf } from '../../apps/operator/testing/operate.ts'
import type { Environment, Outcome } from './process.ts'

/**
 * Runs a `gateway` command in this process on the database of the environment. This takes a tenth of the time of a
 * separate process.
 */
export async function operate(args: readonly string[], environment: Environment): Promise<Outcome> {
  const [out, err] = [textOf(), textOf()]
  const code = await runCommandLine(args, {
    out: out.stream,
    err: err.stream,
    input: () => ({ isTerminal: false, confirm: noInput, password: noInput, text: noInput, bytes: noInput }),
    interruption: new AbortController().signal,
    giveUp: () => undefined,
    openSeconds: 60,
    variables: environment,
    withDatabase: (work) => withDatabase(environment, work),
  })
  return { code, out: out.text(), err: err.text() }
}

/** Runs a command that must succeed and returns its JSON. */
export async function operateJson<Result>(args: readonly string[], environment: Environment): Promise<Result> {
  const { code, out, err } = await operate([...args, '--json'], environment)
  if (code !== 0) throw new Error(`gateway ${args.join(' ')} ended with ${String(code)}: ${err}${out}`)
  return JSON.parse(out) as Result
}

/** Returns a function that runs commands as `operateJson` does, on the database of this environment. */
export const commandLineOf =
  (environment: Environment) =>
  <Result>(args: readonly string[]): Promise<Result> =>
    operateJson<Result>(args, environment)

/** Assigns stored receipts of any age to messages with an unknown outcome. */
export const adoptReceipts = (environment: Environment): Promise<void> =>
  withDatabase(environment, async ({ ports }) => {
    await ports.deliveryReceipts.adopt(0)
  })

/** Sets the mode of a carrier without waiting until the processes have applied it. */
export const setCarrierMode = (environment: Environment, carrier: CarrierId, mode: CarrierMode): Promise<void> =>
  withDatabase(environment, async ({ ports }) => {
    await ports.fleet.setMode(carrier, mode, 'a test')
  })

const noInput = (): never => {
  throw new Error('nothing is typed')
}

const notHere = () => Promise.reject(new Error('not here'))

async function withDatabase(environment: Environment, work: (opened: Opened) => Promise<void>): Promise<void> {
  const { DATABASE_URL, DATA_DIR = '' } = environment
  const webhooks = webhookPorts(readEnvironment({ ...processVariables, ...webhookVariables }, environment))
  const database = await openDatabase({ url: DATABASE_URL, dataDir: DATA_DIR })
  const { ports, migrate, examine, close } = postgresPorts({
    connectionString: database.connectionString,
    settings: { ...patientSettings, ids: 'shared-block', cacheSeconds: 0 },
  })
  try {
    await work({
      ports: { ...ports, ...webhooks, clock: systemClock(), secrets: nodeSecrets() },
      migrate,
      copyTo: notHere,
      backups: { create: notHere, write: notHere, restore: notHere },
      surroundings: async () => ({
        database: await examine(),
        disk: undefined,
        certificates: [],
        clockOffsetSeconds: 0,
      }),
    })
  } finally {
    await close()
    await database.stop()
  }
}
