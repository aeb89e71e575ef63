import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { measured } from '../environment/usage.ts'
import { rawTable } from '../limits/raw-table.ts'
import { accepting, keysOf, perSecondOf } from './accepting.ts'

/** Number of clients, typical of many installations. Requests that do not fit into one commit wait for the next. */
const connections = 32

/** Single sends (docs/performance.md, goal 3). */
export const singleAccept: Benchmark = {
  name: 'single-accept',
  title: `single REST sends of 100 accounts over ${connections} connections beside raw one-row commits of as many`,
  goals: [3],
  runs: 'always',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const accounts = await openAccounts(environment.database, 100)
    await environment.database.query(rawTable)
    const worker = environment.worker()
    const seconds = environment.quick ? 4 : 8
    const { connectionString } = environment.database
    const { product, limit } = await inRounds(environment.quick ? 3 : 5, {
      product: (warmUp) =>
        accepting(environment, rest, worker, {
          face: 'rest',
          keys: keysOf(accounts),
          connections,
          recipients: 1,
          seconds: warmUp ? 3 : seconds,
        }),
      limit: async (warmUp) => {
        const { result, usage } = await measured(environment.server, [], () =>
          worker.run('oneRowCommits', { connectionString, connections, seconds: warmUp ? 2 : seconds }),
        )
        const { rows, latencies, cpu } = result
        return { usage, count: rows, generator: cpu, perSecond: rows / result.seconds, latencies }
      },
    })
    return {
      figures: [
        { name: 'sends', unit: '/s', rounds: perSecondOf(product), better: 'more' },
        { name: 'raw one-row commits', unit: '/s', rounds: perSecondOf(limit) },
        {
          name: 'sends beside raw commits',
          unit: '',
          rounds: ratios(perSecondOf(product), perSecondOf(limit)),
          better: 'more',
          goal: { row: 3, is: 'at least', value: 0.6 },
        },
        ...latencyFigures(
          'send',
          product.map(({ latencies }) => latencies),
        ),
        ...latencyFigures(
          'raw commit',
          limit.map(({ latencies }) => latencies),
        ),
        ...costFigures('send', ['rest'], product),
        ...costFigures('raw commit', [], limit),
      ],
      notes: ['The aim of goal 3 is 1.'],
    }
  },
}
