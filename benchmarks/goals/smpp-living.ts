import { openAccounts } from '../environment/accounts.ts'
import { drained } from '../environment/drained.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import type { Database } from '../environment/postgres.ts'
import type { Started } from '../environment/processes.ts'
import { measured } from '../environment/usage.ts'
import type { Worker } from '../loads/workers.ts'
import { keysOf } from './accepting.ts'
import type { Living } from './living.ts'

/** Gateway with a database of its own. Two of them are measured in turn, so that both are equally warm. */
export interface Side {
  readonly rest: Started
  readonly dispatcher: Started
  /** Runs a round of this number of messages, from the first request to the last DELIVERED. */
  live(worker: Worker, messages: number, recipients: number): Promise<Living>
}

/** Optional settings of the gateway that `openSide` starts. */
interface SideSettings {
  /** Environment variables of the dispatcher in addition to `CARRIERS`. */
  readonly dispatcher?: Readonly<Record<string, string>>
  /** Starts one more process, which is measured after the server and the dispatcher. */
  readonly start?: (database: Database) => Promise<Started>
}

/** Starts a gateway with this value of `CARRIERS`. */
export async function openSide(
  environment: BenchmarkEnvironment,
  carriers: string,
  settings: SideSettings = {},
): Promise<Side> {
  const database = await environment.createDatabase()
  const rest = await environment.start('rest', {}, database)
  const dispatcher = await environment.start('dispatcher', { CARRIERS: carriers, ...settings.dispatcher }, database)
  const third = await settings.start?.(database)
  const apps = [rest, dispatcher, ...(third === undefined ? [] : [third])]
  const keys = keysOf(await openAccounts(database, 20))
  return {
    rest,
    dispatcher,
    async live(worker, messages, recipients) {
      const load = { url: rest.url, face: 'rest', keys, connections: 4, recipients } as const
      const { result, usage } = await measured(environment.server, apps, async () => {
        const sent = await environment.sends(worker, { ...load, requests: Math.ceil(messages / recipients) }, true)
        await drained(database, sent.accepted)
        return sent
      })
      return { usage, count: result.recipients, generator: result.cpu, perSecond: result.recipients / usage.seconds }
    },
  }
}
