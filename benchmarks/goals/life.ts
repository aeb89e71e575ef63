import type { Benchmark } from '../benchmark.ts'
import { costFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { plainTables } from '../limits/plain-life.ts'
import { rawTable } from '../limits/raw-table.ts'
import { keysOf, perSecondOf } from './accepting.ts'
import { living, livingPlainly, postgresOf } from './living.ts'
import { rawInserting } from './raw-inserting.ts'

/** Bulk messages from acceptance to delivery (docs/performance.md, goals 5 and 6, second half of goal 10). */
export const life: Benchmark = {
  name: 'life',
  title: 'REST sends of 1000, accepted to DELIVERED through the simulated carrier without delay',
  goals: [5, 6, 10],
  runs: 'always',
  run: async (environment) => {
    const { database, quick } = environment
    const rest = await environment.start('rest')
    const dispatcher = await environment.start('dispatcher', { CARRIERS: 'simulator:?delayMs=0' })
    const keys = keysOf(await openAccounts(database, 20))
    await database.query(rawTable)
    await database.query(plainTables)
    const worker = environment.worker()
    const all = quick ? 100_000 : 300_000
    const many = (warmUp: boolean): number => (warmUp ? 30_000 : all)

    const { product, raw, plain } = await inRounds(quick ? 3 : 5, {
      product: (warmUp) =>
        living(environment, [rest, dispatcher], worker, {
          keys,
          connections: 4,
          recipients: 1000,
          messages: many(warmUp),
        }),
      raw: (warmUp) => rawInserting(environment, worker, { rows: 1000, statements: many(warmUp) / 1000 }),
      plain: (warmUp) =>
        livingPlainly(environment, worker, { messages: many(warmUp), perAccept: 1000, acceptConnections: 2 }),
    })
    const perMessage = product.map(({ usage, count }) => (usage.apps[1] ?? NaN) / count)
    return {
      figures: [
        {
          name: `messages accepted and delivered, ${all} a round`,
          unit: '/s',
          rounds: perSecondOf(product),
          better: 'more',
        },
        { name: 'raw set inserts', unit: 'rows/s', rounds: perSecondOf(raw) },
        { name: 'lives in a plain table', unit: '/s', rounds: perSecondOf(plain) },
        {
          name: 'messages delivered beside raw rows',
          unit: '',
          rounds: ratios(perSecondOf(product), perSecondOf(raw)),
          better: 'more',
          goal: { row: 5, is: 'at least', value: 0.15 },
        },
        {
          name: 'CPU of PostgreSQL beside the plain table, bulk',
          unit: '',
          rounds: ratios(postgresOf(product), postgresOf(plain)),
          better: 'less',
          goal: { row: 6, is: 'at most', value: 0.45 },
        },
        {
          name: 'CPU of node a message dispatched with its receipt',
          unit: 'µs',
          rounds: perMessage,
          better: 'less',
          goal: { row: 10, is: 'at most', value: 8 },
        },
        ...costFigures('message', ['rest', 'dispatcher'], product),
        ...costFigures('message in a plain table', [], plain),
      ],
      notes: quick ? [`${all} messages a round; goal 5 speaks of 300,000, as in a full run.`] : [],
    }
  },
}
