import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { inRounds } from '../environment/rounds.ts'
import { costFigures } from '../figures/costs.ts'
import type { Figure } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'
import { perSecondOf } from './accepting.ts'
import { living, type Living } from './living.ts'
import type { WebhookProcesses } from './webhooks-endpoints.ts'

interface Pushed extends Living {
  /** Messages a second, measured from the first request to the last received event. */
  readonly receivedPerSecond: number
}

/** Compares a bulk run of an account with an endpoint with one of an account without. */
export async function livingWith(
  environment: BenchmarkEnvironment,
  { rest, dispatcher, sending, receiving }: WebhookProcesses,
  keys: { readonly on: string; readonly off: string },
): Promise<Figure[]> {
  const all = environment.quick ? 50_000 : 150_000
  const live = (key: string, warmUp: boolean): Promise<Living> =>
    living(environment, [rest, dispatcher], sending, {
      keys: [key],
      connections: 4,
      recipients: 1000,
      messages: warmUp ? 30_000 : all,
    })
  async function pushed(warmUp: boolean): Promise<Pushed> {
    const start = performance.now()
    const lived = await live(keys.on, warmUp)
    const { events } = await receiving.run('received', { events: lived.count })
    const problem = events === lived.count ? undefined : `${events} events of ${lived.count} messages`
    environment.check('each message was pushed once', problem)
    return { ...lived, receivedPerSecond: (lived.count * 1000) / (performance.now() - start) }
  }
  const { on, off } = await inRounds(environment.quick ? 3 : 5, {
    on: pushed,
    off: (warmUp) => live(keys.off, warmUp),
  })
  return [
    {
      name: 'bulk delivered with an endpoint beside without',
      unit: '',
      rounds: ratios(perSecondOf(on), perSecondOf(off)),
      better: 'more',
      goal: { row: 'scale', is: 'at least', value: 0.7 },
    },
    {
      name: `bulk with an endpoint, ${all} a round: accepted to DELIVERED`,
      unit: '/s',
      rounds: perSecondOf(on),
      better: 'more',
    },
    {
      name: 'bulk with an endpoint: accepted to the last event received',
      unit: '/s',
      rounds: on.map(({ receivedPerSecond }) => receivedPerSecond),
      better: 'more',
    },
    { name: 'bulk without: accepted to DELIVERED', unit: '/s', rounds: perSecondOf(off), better: 'more' },
    ...costFigures('message with an endpoint', ['rest', 'dispatcher'], on),
    ...costFigures('message without', ['rest', 'dispatcher'], off),
  ]
}
