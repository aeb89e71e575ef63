import type { Benchmark } from '../benchmark.ts'
import { latencyFigures } from '../figures/costs.ts'
import { openAccounts } from '../environment/accounts.ts'
import { drained } from '../environment/drained.ts'
import type { Started } from '../environment/processes.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { submissionWaits } from '../environment/submission-waits.ts'
import { latenciesOf, type Latencies } from '../loads/latencies.ts'
import type { Worker } from '../loads/workers.ts'
import { keysOf } from './accepting.ts'

const perSecond = 200

interface Round {
  readonly accept: Latencies
  readonly submit: Latencies
  readonly singles: number
  readonly drainPerSecond: number
  /** Share of the single sends that were made while the backlog drained. */
  readonly share: number
}

/** Single sends while bulk messages are sent (docs/performance.md, goal 8). */
export const mixed: Benchmark = {
  name: 'mixed',
  title: `${perSecond} single sends a second while a backlog of bulk drains`,
  goals: [8],
  runs: 'always',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const keys = keysOf(await openAccounts(environment.database, 101))
    const workers = { bulk: environment.worker(), single: environment.worker() }
    const backlog = environment.quick ? 100_000 : 300_000
    const rounds: Round[] = []
    // The dispatcher is suspended while the backlog is created, for less than its lease.
    const dispatcher = await environment.start('dispatcher', { CARRIERS: 'simulator:?delayMs=0', LEASE_SECONDS: '40' })
    // Warm up the code of both processes and the tables. A dispatcher that has just started takes about 0.3 s for its
    // first messages.
    await round(environment, { rest, dispatcher, keys, workers, backlog: 30_000 })
    for (let i = 0; i < 3; i++) rounds.push(await round(environment, { rest, dispatcher, keys, workers, backlog }))
    const p99 = (of: (round: Round) => Latencies): number[] => rounds.map((one) => of(one).p99)
    return {
      figures: [
        {
          name: 'p99 of accept',
          unit: 'ms',
          rounds: p99(({ accept }) => accept),
          better: 'less',
          goal: { row: 8, is: 'at most', value: 150 },
        },
        {
          name: 'p99 of request to submitted',
          unit: 'ms',
          rounds: p99(({ submit }) => submit),
          better: 'less',
          goal: { row: 8, is: 'at most', value: 300 },
        },
        ...latencyFigures(
          'accept',
          rounds.map(({ accept }) => accept),
        ),
        ...latencyFigures(
          'request to submitted',
          rounds.map(({ submit }) => submit),
        ),
        { name: 'single sends that came while it drained', unit: 'of 1', rounds: rounds.map(({ share }) => share) },
        { name: 'single sends of a round', unit: '', rounds: rounds.map(({ singles }) => singles) },
        {
          name: 'bulk messages drained',
          unit: '/s',
          rounds: rounds.map(({ drainPerSecond }) => drainPerSecond),
          better: 'more',
        },
      ],
      notes: [
        'Times count from the moment at which a request was to be sent, also where it had to wait for a connection.',
        ...(environment.quick ? [`A backlog of ${backlog}; goal 8 speaks of 300,000, as in a full run.`] : []),
      ],
    }
  },
}

interface Mix {
  readonly rest: Started
  readonly dispatcher: Started
  readonly keys: readonly string[]
  readonly workers: { readonly bulk: Worker; readonly single: Worker }
  readonly backlog: number
}

/** Creates the backlog, resumes the dispatcher, and makes single sends until the backlog is empty. */
async function round(
  environment: BenchmarkEnvironment,
  { rest, dispatcher, keys, workers, backlog }: Mix,
): Promise<Round> {
  dispatcher.pause()
  const { url } = rest
  const common = { url, face: 'rest' } as const
  const bulk = await environment.sends(workers.bulk, {
    ...common,
    keys: keys.slice(0, 1),
    connections: 4,
    recipients: 1000,
    requests: backlog / 1000,
  })
  await environment.server.checkpoint()
  dispatcher.goOn()
  const start = performance.now()
  const gone = bulkGone(environment)
  let drainedAfter = NaN
  void gone.then(() => (drainedAfter = (performance.now() - start) / 1000))
  // The load lasts long enough for the slowest machine. Rates are judged by the sends made while the backlog drained.
  const sent = await environment.sends(workers.single, {
    ...common,
    keys: keys.slice(1),
    connections: 32,
    recipients: 1,
    perSecond,
    keepsTimes: 'of requests',
    seconds: environment.quick ? 5 : 12,
  })
  await gone
  await drained(environment.database, bulk.accepted, sent.accepted)
  return {
    accept: sent.latencies,
    submit: latenciesOf(await submissionWaits(environment, sent.times)),
    singles: sent.requests,
    drainPerSecond: backlog / drainedAfter,
    share: Math.min(1, drainedAfter / sent.seconds),
  }
}

async function bulkGone({ database }: BenchmarkEnvironment): Promise<void> {
  while ((await database.number(`select count(*) from due where lane = 1`)) > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
