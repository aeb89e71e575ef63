import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from '../benchmark.ts'
import { latencyFigures } from '../figures/costs.ts'
import type { Figure, Goal } from '../figures/figure.ts'
import { openAccounts } from '../environment/accounts.ts'
import type { Started } from '../environment/processes.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { submissionWaits } from '../environment/submission-waits.ts'
import { measured } from '../environment/usage.ts'
import { latenciesOf } from '../loads/latencies.ts'
import type { Worker } from '../loads/workers.ts'
import { keysOf } from './accepting.ts'

/** Rate of single sends, slow enough that everything is idle for more than a second before each. */
const singlesPerSecond = 0.37
const carrier = { CARRIERS: 'simulator:?delayMs=0' }

/**
 * Time before the measurement. V8 shrinks its heap in the first 20 s after a start, which costs about 100 ms of CPU
 * once.
 */
const settledMilliseconds = 30_000

/**
 * Length of the measurement: two rounds of the work that occurs once a minute, which is autovacuum of each database and
 * reopening of connections.
 */
const measuredMilliseconds = 120_000

const transactions = `select xact_commit + xact_rollback from pg_stat_database where datname = current_database()`

/** Cost of idle processes, and the time until they submit a message. */
export const idle: Benchmark = {
  name: 'idle',
  title: 'processes that nobody uses; single messages after a pause of some seconds',
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const worker = environment.worker()
    const allInOne = await environment.start('all-in-one', carrier)
    const [key = ''] = keysOf(await openAccounts(environment.database, 1))
    const alone = await costOf(environment, 'all-in-one', [allInOne], 0.5)
    const same = await submittedAfterIdle(environment, worker, allInOne, { key, of: 'in one process', goal: 50 })
    await allInOne.stop()

    const dispatchers = [await environment.start('dispatcher', carrier), await environment.start('dispatcher', carrier)]
    const two = await costOf(environment, 'two dispatchers', dispatchers)
    await dispatchers[1]?.stop()
    const rest = await environment.start('rest')
    const across = await submittedAfterIdle(environment, worker, rest, { key, of: 'across processes', goal: 100 })
    return { figures: [...alone, ...two, ...same, ...across], notes: ['Percent of one core.'] }
  },
}

async function costOf(
  environment: BenchmarkEnvironment,
  of: string,
  apps: readonly Started[],
  goal?: number,
): Promise<Figure[]> {
  await delay(settledMilliseconds)
  const before = await environment.database.number(transactions)
  const { usage } = await measured(environment.server, apps, () => delay(measuredMilliseconds))
  const committed = (await environment.database.number(transactions)) - before
  const percent = (microseconds: number): number => microseconds / usage.seconds / 1e4
  const node = usage.apps.reduce((sum, cpu) => sum + cpu, 0)
  const cpu = (name: string, microseconds: number): Figure => ({
    name: `${of}: CPU of ${name}`,
    unit: '%',
    rounds: [percent(microseconds)],
    better: 'less',
  })
  return [
    { ...cpu('both', node + usage.postgres), ...(goal !== undefined && { goal: atMost(goal) }) },
    cpu('node', node),
    cpu('PostgreSQL', usage.postgres),
    { name: `${of}: transactions`, unit: '/s', rounds: [committed / usage.seconds], better: 'less' },
  ]
}

/**
 * Measures the time from the answer to the submission. A message may be submitted before its sender gets the answer.
 */
async function submittedAfterIdle(
  environment: BenchmarkEnvironment,
  worker: Worker,
  { url }: Started,
  { key, of, goal }: { readonly key: string; readonly of: string; readonly goal: number },
): Promise<Figure[]> {
  const sent = await environment.sends(worker, {
    face: 'rest',
    url,
    keys: [key],
    connections: 1,
    recipients: 1,
    perSecond: singlesPerSecond,
    seconds: environment.quick ? 60 : 180,
    keepsTimes: 'of answers',
  })
  // Wait until the last message is in the record of the carrier and delivered.
  await delay(3000)
  const waits = await submissionWaits(environment, sent.times)
  const submitted = latenciesOf(waits.map((wait) => Math.max(0, wait)))
  const figures = latencyFigures(`${of}: accepted to submitted`, [submitted])
  return [
    ...figures.map((figure) => (figure.name.endsWith('p99') ? { ...figure, goal: atMost(goal) } : figure)),
    ...latencyFigures(`${of}: accept`, [sent.latencies]),
    { name: `${of}: messages`, unit: '', rounds: [sent.requests] },
  ]
}

const atMost = (value: number): Goal => ({ row: 'scale', is: 'at most', value })
