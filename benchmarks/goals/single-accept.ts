import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../ground/accounts.ts'
import { inRounds } from '../ground/rounds.ts'
import { measured } from '../ground/usage.ts'
import { rawTable } from '../limits/raw-table.ts'
import { accepting, keysOf, perSecondOf } from './accepting.ts'

/** As many clients as many installations have; what does not fit into one commit waits for the next. */
const connections = 32

/** Goal 3. */
export const singleAccept: Benchmark = {
  name: 'single-accept',
  title: `single REST sends of 100 accounts over ${connections} connections beside raw one-row commits of as many`,
  goals: [3],
  runs: 'always',
  run: async (scene) => {
    const rest = await scene.start('rest')
    const accounts = await openAccounts(scene.database, 100)
    await scene.database.query(rawTable)
    const worker = scene.worker()
    const seconds = scene.quick ? 4 : 8
    const { connectionString } = scene.database
    const { product, limit } = await inRounds(scene.quick ? 3 : 5, {
      product: (warmUp) =>
        accepting(scene, rest, worker, {
          face: 'rest',
          keys: keysOf(accounts),
          connections,
          recipients: 1,
          seconds: warmUp ? 3 : seconds,
        }),
      limit: async (warmUp) => {
        const { result, usage } = await measured(scene.server, [], () =>
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
