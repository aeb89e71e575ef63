import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import type { Figure } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import type { Interface } from '../loads/send-requests.ts'
import { accepting, keysOf, perSecondOf, type Accepting } from './accepting.ts'

/** Sends over the interfaces other than REST (docs/performance.md, goal 2). */
export const interfaces: Benchmark = {
  name: 'interfaces',
  title: 'XML sends of 1000 and query-string sends of 100 beside REST sends of as many',
  goals: [2],
  runs: 'always',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const apps = { rest, asp: await environment.start('asp'), xml: await environment.start('xml') }
    const keys = keysOf(await openAccounts(environment.database, 20))
    const worker = environment.worker()
    const seconds = environment.quick ? 3 : 6
    const side = (face: Interface, recipients: number) => (warmUp: boolean) =>
      accepting(environment, apps[face], worker, {
        face,
        keys,
        connections: recipients === 1000 ? 8 : 16,
        recipients,
        seconds: warmUp ? 2 : seconds,
      })
    const measured = await inRounds(environment.quick ? 3 : 5, {
      xml: side('xml', 1000),
      restOf1000: side('rest', 1000),
      asp: side('asp', 100),
      restOf100: side('rest', 100),
    })
    const { xml, restOf1000, asp, restOf100 } = measured
    return {
      figures: [
        beside('XML sends of 1000 beside REST', xml, restOf1000),
        beside('query-string sends of 100 beside REST', asp, restOf100),
        ...of('XML send of 1000', 'xml', xml),
        ...of('REST send of 1000', 'rest', restOf1000),
        ...of('query-string send of 100', 'asp', asp),
        ...of('REST send of 100', 'rest', restOf100),
      ],
      notes: [],
    }
  },
}

const beside = (name: string, these: readonly Accepting[], those: readonly Accepting[]): Figure => ({
  name,
  unit: '',
  rounds: ratios(perSecondOf(these), perSecondOf(those)),
  better: 'more',
  goal: { row: 2, is: 'at least', value: 0.7 },
})

const of = (label: string, app: string, rounds: readonly Accepting[]): Figure[] => [
  { name: `${label}: recipients`, unit: '/s', rounds: perSecondOf(rounds), better: 'more' },
  ...latencyFigures(
    label,
    rounds.map(({ latencies }) => latencies),
  ),
  ...costFigures(`${label}, a recipient`, [app], rounds),
]
