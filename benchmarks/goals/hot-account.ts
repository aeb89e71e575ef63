import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { accepting, keysOf, perSecondOf } from './accepting.ts'

const connections = 32

/** Single sends of one account and of many (docs/performance.md, goal 4). */
export const hotAccount: Benchmark = {
  name: 'hot-account',
  title: 'single REST sends of one account beside those of 1000 accounts',
  goals: [4],
  runs: 'always',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const keys = keysOf(await openAccounts(environment.database, 1001))
    const worker = environment.worker()
    const seconds = environment.quick ? 4 : 8
    const side = (of: readonly string[]) => (warmUp: boolean) =>
      accepting(environment, rest, worker, {
        face: 'rest',
        keys: of,
        connections,
        recipients: 1,
        seconds: warmUp ? 2 : seconds,
      })
    const { one, many } = await inRounds(environment.quick ? 3 : 5, {
      one: side(keys.slice(0, 1)),
      many: side(keys.slice(1)),
    })
    return {
      figures: [
        { name: 'sends of one account', unit: '/s', rounds: perSecondOf(one), better: 'more' },
        { name: 'sends of 1000 accounts', unit: '/s', rounds: perSecondOf(many), better: 'more' },
        {
          name: 'one account beside 1000',
          unit: '',
          rounds: ratios(perSecondOf(one), perSecondOf(many)),
          better: 'more',
          goal: { row: 4, is: 'at least', value: 0.85 },
        },
        ...latencyFigures(
          'send of one account',
          one.map(({ latencies }) => latencies),
        ),
        ...latencyFigures(
          'send of 1000 accounts',
          many.map(({ latencies }) => latencies),
        ),
        ...costFigures('send of one account', ['rest'], one),
        ...costFigures('send of 1000 accounts', ['rest'], many),
      ],
      notes: [],
    }
  },
}
