import type { Benchmark } from '../benchmark.ts'
import { costFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { plainTables } from '../limits/plain-life.ts'
import { keysOf, perSecondOf } from './accepting.ts'
import { living, livingPlainly, postgresOf } from './living.ts'

/**
 * Number of concurrent requests. It is so high that one commit contains hundreds of them, as it does with the plain
 * table.
 */
const connections = 500
const perAccept = 500

/** Single messages from acceptance to delivery (docs/performance.md, goal 6). */
export const singleLife: Benchmark = {
  name: 'single-life',
  title: 'single REST sends, accepted to DELIVERED, beside a plain table',
  goals: [6],
  runs: 'always',
  run: async (environment) => {
    const { database, quick } = environment
    const rest = await environment.start('rest')
    const dispatcher = await environment.start('dispatcher', { CARRIERS: 'simulator:?delayMs=0' })
    const keys = keysOf(await openAccounts(database, 1000))
    await database.query(plainTables)
    const worker = environment.worker()
    const seconds = (warmUp: boolean): number => (warmUp ? 2 : quick ? 3 : 6)
    const product = (of: number) => (warmUp: boolean) =>
      living(environment, [rest, dispatcher], worker, {
        keys,
        connections: of,
        recipients: 1,
        seconds: seconds(warmUp),
      })
    const plain = (per: number, acceptConnections: number) => (warmUp: boolean) =>
      livingPlainly(environment, worker, { seconds: seconds(warmUp), perAccept: per, acceptConnections })

    const measured = await inRounds(quick ? 3 : 5, {
      product: product(connections),
      plain: plain(perAccept, 2),
      few: product(32),
      plainOneByOne: plain(1, 32),
    })
    return {
      figures: [
        { name: 'messages accepted and delivered', unit: '/s', rounds: perSecondOf(measured.product), better: 'more' },
        {
          name: `CPU of PostgreSQL beside the plain table in sets of ${perAccept}, single`,
          unit: '',
          rounds: ratios(postgresOf(measured.product), postgresOf(measured.plain)),
          better: 'less',
          goal: { row: 6, is: 'at most', value: 0.65 },
        },
        {
          name: 'CPU of PostgreSQL over 32 connections beside the plain table row by row over 32',
          unit: '',
          rounds: ratios(postgresOf(measured.few), postgresOf(measured.plainOneByOne)),
          better: 'less',
        },
        ...costFigures(`message over ${connections} connections`, ['rest', 'dispatcher'], measured.product),
        ...costFigures('message over 32 connections', ['rest', 'dispatcher'], measured.few),
        ...costFigures(`message in a plain table, ${perAccept} an accept`, [], measured.plain),
        ...costFigures('message in a plain table, one an accept', [], measured.plainOneByOne),
      ],
      notes: [
        `Goal 6 is judged where the plain table is cheapest: it accepts ${perAccept} messages in one statement, which no gateway does with single sends.`,
      ],
    }
  },
}
