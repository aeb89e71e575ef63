import { mkdir } from 'node:fs/promises'
import { openAccounts } from '../environment/accounts.ts'
import { drained } from '../environment/drained.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import type { Database } from '../environment/postgres.ts'
import type { Started } from '../environment/processes.ts'
import { inRounds } from '../environment/rounds.ts'
import { measured } from '../environment/usage.ts'
import { costFigures, type Cost } from '../figures/costs.ts'
import type { Figure, Goal } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'
import { pushingVariables, type WebhookProcesses } from './webhooks-endpoints.ts'

interface Apart {
  readonly database: Database
  readonly rest: Started
  readonly dispatcher: Started
  readonly key: string
}

/** Database without endpoints, with processes and an account of its own. */
export async function apart(environment: BenchmarkEnvironment): Promise<Apart> {
  const database = await environment.createDatabase()
  const folder = `${environment.folder}-apart`
  await mkdir(folder)
  const variables = { ...pushingVariables, DATA_DIR: folder }
  const rest = await environment.start('rest', variables, database)
  const dispatcher = await environment.start('dispatcher', variables, database)
  const [account] = await openAccounts(database, 1)
  return { database, rest, dispatcher, key: account?.key ?? '' }
}

/**
 * Measures the cost of webhooks for an account without an endpoint. Compares such an account in a database where
 * another account has an endpoint with an account in a database without endpoints. Stops the separate processes.
 */
export async function payingNothing(
  environment: BenchmarkEnvironment,
  { rest, dispatcher, sending }: WebhookProcesses,
  key: string,
  other: Apart,
): Promise<Figure[]> {
  const own: Apart = { database: environment.database, rest, dispatcher, key }
  const live = async (on: Apart, warmUp: boolean): Promise<Cost> => {
    const requests = warmUp ? 30 : environment.quick ? 50 : 150
    const load = { url: on.rest.url, face: 'rest', keys: [on.key], connections: 4, recipients: 1000, requests } as const
    const { result, usage } = await measured(environment.server, [on.rest, on.dispatcher], async () => {
      const sent = await environment.sends(sending, load, on === other)
      await drained(on.database, sent.accepted)
      return sent
    })
    return { usage, count: result.recipients, generator: result.cpu }
  }
  const { beside, none } = await inRounds(environment.quick ? 5 : 9, {
    beside: (warmUp) => live(own, warmUp),
    none: (warmUp) => live(other, warmUp),
  })
  await other.dispatcher.stop()
  await other.rest.stop()
  const compared = (name: string, cpuOf: (cost: Cost) => number): Figure => ({
    name: `an account without an endpoint: ${name} where nobody has one beside where another has`,
    unit: '',
    rounds: ratios(none.map(cpuOf), beside.map(cpuOf)),
    better: 'more',
    goal,
  })
  return [
    compared('CPU of PostgreSQL', ({ usage, count }) => usage.postgres / count),
    compared('CPU of node', ({ usage, count }) => usage.apps.reduce((sum, cpu) => sum + cpu, 0) / count),
    ...costFigures('message where another has an endpoint', ['rest', 'dispatcher'], beside),
    ...costFigures('message where nobody has one', ['rest', 'dispatcher'], none),
  ]
}

const goal: Goal = { row: 'scale', is: 'at least', value: 0.95 }
