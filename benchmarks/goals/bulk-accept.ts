import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { rawTable } from '../limits/raw-table.ts'
import { accepting, keysOf, perSecondOf } from './accepting.ts'
import { rawInserting } from './raw-inserting.ts'

/** Sends of 1000 numbers over REST (docs/performance.md, goal 1 and the first half of goal 10). */
export const bulkAccept: Benchmark = {
  name: 'bulk-accept',
  title: 'REST sends of 1000 beside raw set inserts of one row a recipient',
  goals: [1, 10],
  runs: 'always',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const accounts = await openAccounts(environment.database, 20)
    await environment.database.query(rawTable)
    const worker = environment.worker()
    const seconds = environment.quick ? 4 : 8
    const { product, limit, alone } = await inRounds(environment.quick ? 3 : 5, {
      product: (warmUp) =>
        accepting(environment, rest, worker, {
          face: 'rest',
          keys: keysOf(accounts),
          connections: 8,
          recipients: 1000,
          seconds: warmUp ? 3 : seconds,
        }),
      limit: (warmUp) => rawInserting(environment, worker, { rows: 1000, seconds: warmUp ? 2 : seconds }),
      alone: (warmUp) => rawInserting(environment, worker, { rows: 1000, seconds: warmUp ? 1 : seconds / 2 }, 1),
    })
    const nodeCpu = product.map(({ usage, count }) => (usage.apps[0] ?? NaN) / count)
    return {
      figures: [
        { name: 'recipients', unit: '/s', rounds: perSecondOf(product), better: 'more' },
        { name: 'raw set inserts over 4 connections', unit: 'rows/s', rounds: perSecondOf(limit) },
        { name: 'raw set inserts over 1 connection', unit: 'rows/s', rounds: perSecondOf(alone) },
        {
          name: 'recipients beside raw rows',
          unit: '',
          rounds: ratios(perSecondOf(product), perSecondOf(limit)),
          better: 'more',
          goal: { row: 1, is: 'at least', value: 1.1 },
        },
        {
          name: 'recipients beside raw rows over 1 connection',
          unit: '',
          rounds: ratios(perSecondOf(product), perSecondOf(alone)),
          better: 'more',
        },
        {
          name: 'CPU of node a recipient',
          unit: 'µs',
          rounds: nodeCpu,
          better: 'less',
          goal: { row: 10, is: 'at most', value: 4 },
        },
        ...latencyFigures(
          'send of 1000',
          product.map(({ latencies }) => latencies),
        ),
        ...costFigures('recipient', ['rest'], product),
        ...costFigures('raw row', [], limit),
      ],
      notes: [],
    }
  },
}
