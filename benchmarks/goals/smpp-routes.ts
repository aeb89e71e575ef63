import type { Benchmark } from '../benchmark.ts'
import { inRounds } from '../environment/rounds.ts'
import { startSmsc } from '../environment/smsc.ts'
import { latencyFigures } from '../figures/costs.ts'
import type { Figure } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'
import { perSecondOf } from './accepting.ts'
import { openRouted, type Routed, type RoutedRound } from './smpp-routed.ts'

/** Effect of a carrier with few answers on messages over another carrier. */
export const smppRoutes: Benchmark = {
  name: 'smpp-routes',
  title: 'single sends and bulk over one SMPP carrier, with a queue for another that answers little, and without',
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const { quick } = environment
    const good = await startSmsc(['receiptDelay=0'])
    const nothing = await startSmsc(['isSilent=true'])
    const slow = await startSmsc(['answersPerSecond=1'])
    const worker = environment.worker()
    const queued = quick ? 20_000 : 100_000
    const open = (name: string, other: number, waiting: number): Promise<Routed> =>
      openRouted(environment, worker, { name, good: good.port, other, queued: waiting })
    const without = await open('without', good.port, 0)
    const silent = await open('silent', nothing.port, queued)
    const slowly = await open('slowly', slow.port, queued)
    const full = quick ? { seconds: 3, bulk: 20_000 } : { seconds: 10, bulk: 100_000 }
    const live = (routed: Routed) => (warmUp: boolean) => routed.live(warmUp ? { seconds: 1, bulk: 5000 } : full)

    const sides = { without: live(without), silent: live(silent), slowly: live(slowly) }
    const rounds = await inRounds(quick ? 3 : 5, sides)
    const waiting = [await silent.waiting(), await slowly.waiting()]
    for (const smsc of [nothing, slow]) await smsc.stop()
    for (const routed of [without, silent, slowly]) await routed.stop()
    await good.stop()
    return {
      figures: [
        ...beside('a carrier that answers nothing', rounds.silent, rounds.without),
        ...beside('a carrier of one a second', rounds.slowly, rounds.without),
        { name: 'bulk, nothing queued', unit: '/s', rounds: perSecondOf(rounds.without) },
        ...waitsOf('nothing queued', rounds.without),
        {
          name: 'queued for the other carrier at the end, the least',
          unit: 'messages',
          rounds: [Math.min(...waiting)],
        },
      ],
      notes: [
        `${queued} messages queued for the other carrier. Rounds of ${full.bulk} bulk messages, and of ${full.seconds * 100} single sends, 100 a second.`,
        'Answered: the answer of the carrier is stored, which is later than submitted.',
      ],
    }
  },
}

/** Compares rounds in which messages wait for `carrier` with rounds in which none wait. */
function beside(carrier: string, queued: readonly RoutedRound[], without: readonly RoutedRound[]): Figure[] {
  const p99 = (rounds: readonly RoutedRound[]): number[] => rounds.map(({ answered }) => answered.p99)
  return [
    {
      name: `bulk behind ${carrier}, beside nothing queued`,
      unit: '',
      rounds: ratios(perSecondOf(queued), perSecondOf(without)),
      better: 'more',
      goal: { row: 'scale', is: 'at least', value: 0.8 },
    },
    {
      name: `single sends behind ${carrier}: request to answered, p99`,
      unit: 'ms',
      rounds: p99(queued),
      better: 'less',
      goal: { row: 'scale', is: 'at most', value: 1000 },
    },
    { name: `the same behind ${carrier}, beside nothing queued`, unit: '', rounds: ratios(p99(queued), p99(without)) },
    { name: `bulk behind ${carrier}`, unit: '/s', rounds: perSecondOf(queued), better: 'more' },
    ...waitsOf(`behind ${carrier}`, queued),
  ]
}

const waitsOf = (when: string, rounds: readonly RoutedRound[]): Figure[] => [
  ...latencyFigures(
    `${when}: accept`,
    rounds.map(({ accept }) => accept),
  ),
  ...latencyFigures(
    `${when}: request to answered`,
    rounds.map(({ answered }) => answered),
  ),
]
