import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { inRounds } from '../environment/rounds.ts'
import { measured } from '../environment/usage.ts'
import { costFigures, type Cost } from '../figures/costs.ts'
import type { Figure } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'
import { perSecondOf } from './accepting.ts'
import { living } from './living.ts'
import { distant } from '../loads/webhook-receiver.ts'
import type { WebhookProcesses } from './webhooks-endpoints.ts'

/** Concurrent requests, as many as the gateway makes to one endpoint. */
const inFlight = 5

interface Pushing extends Cost {
  /** Requests a second. */
  readonly perSecond: number
  readonly requests: number
  readonly bodies: readonly string[]
}

interface Endpoints {
  readonly key: string
  /** Id of the account's endpoint with lists of 100. */
  readonly endpoint: number
  /** Id of the endpoint with lists of 1. */
  readonly smallEndpoint: number
  /** Id of the endpoint that answers after 20 ms. */
  readonly distantEndpoint: number
}

/** Pushes waiting events in large and in small lists, and the same bodies without the gateway. */
export async function pushingWaiting(
  environment: BenchmarkEnvironment,
  processes: WebhookProcesses,
  { key, endpoint, smallEndpoint, distantEndpoint }: Endpoints,
): Promise<Figure[]> {
  const { quick } = environment
  await keepWaiting(environment, processes, key, endpoint)
  const sides = {
    large: { webhook: endpoint, events: quick ? 50_000 : 200_000 },
    // The client alone has not reached its full speed after 2000 requests.
    small: { webhook: smallEndpoint, events: quick ? 10_000 : 20_000 },
    far: { webhook: distantEndpoint, events: quick ? 20_000 : 100_000 },
  }
  const bodies: Record<string, readonly string[]> = {}
  const product = (name: keyof typeof sides) => async (): Promise<Pushing> => {
    const pushed = await pushing(environment, processes, sides[name])
    bodies[name] = pushed.bodies
    return pushed
  }
  const direct = (name: keyof typeof sides, requests: number) => () =>
    directly(processes, name === 'far', { bodies: bodies[name] ?? [], requests })
  // The gateway pushes first, because its bodies are reused.
  const warm = { large: await product('large')(), small: await product('small')(), far: await product('far')() }
  const rounds = await inRounds(quick ? 3 : 5, {
    large: product('large'),
    directLarge: direct('large', warm.large.requests),
    small: product('small'),
    directSmall: direct('small', warm.small.requests),
    far: product('far'),
    directFar: direct('far', warm.far.requests),
  })
  return [
    ...beside('lists of 100', rounds.large, rounds.directLarge),
    ...beside('lists of 1', rounds.small, rounds.directSmall),
    ...beside('lists of 100, answered after 20 ms', rounds.far, rounds.directFar),
  ]
}

/** Inserts events of existing messages while the endpoint is paused. */
async function keepWaiting(
  environment: BenchmarkEnvironment,
  { rest, dispatcher, sending }: WebhookProcesses,
  key: string,
  endpoint: number,
): Promise<void> {
  const { database, quick } = environment
  await database.query('update webhook set state = 1')
  const messages = quick ? 50_000 : 200_000
  await living(environment, [rest, dispatcher], sending, { keys: [key], connections: 4, recipients: 1000, messages })
  await database.query('create table waiting as select * from webhook_event where webhook_id = $1', [endpoint])
  await database.query('delete from webhook_event')
  await database.query('vacuum webhook_event')
}

async function pushing(
  environment: BenchmarkEnvironment,
  { dispatcher, receiving }: WebhookProcesses,
  { webhook, events }: { readonly webhook: number; readonly events: number },
): Promise<Pushing> {
  const { database, server } = environment
  await database.query(
    `insert into webhook_event (webhook_id, type, sequence, at, code, send_first_id, has_reference, count, subjects, msisdns)
    select $1::int, type, sequence, at, code, send_first_id, has_reference, least(count, $2::int - before),
      subjects[:$2::int - before], msisdns[:$2::int - before]
    from (select *, sum(count) over (order by id)::int - count before from waiting) waiting
    where before < $2::int
    order by id`,
    [webhook, events],
  )
  const { result, usage } = await measured(server, [dispatcher], async () => {
    await database.query('update webhook set state = 0 where id = $1', [webhook])
    return receiving.run('received', { events })
  })
  await database.query('update webhook set state = 1 where id = $1', [webhook])
  environment.check(
    'what waited was pushed once',
    result.events === events ? undefined : `${result.events} of ${events}`,
  )
  const { requests, seconds, bodies } = result
  return { usage, count: requests, generator: result.cpu, perSecond: requests / seconds, requests, bodies }
}

async function directly(
  { sending, receiving, url }: WebhookProcesses,
  isDistant: boolean,
  pushes: { readonly bodies: readonly string[]; readonly requests: number },
): Promise<{ readonly perSecond: number }> {
  await sending.run('directPushes', { url: isDistant ? url + distant : url, inFlight, ...pushes })
  const { requests, seconds } = await receiving.run('received', { events: 0 })
  return { perSecond: requests / seconds }
}

const beside = (
  label: string,
  product: readonly Pushing[],
  direct: readonly { readonly perSecond: number }[],
): Figure[] => [
  {
    name: `${label}: pushed beside the client alone`,
    unit: '',
    rounds: ratios(perSecondOf(product), perSecondOf(direct)),
    better: 'more',
    goal: { row: 'scale', is: 'at least', value: 0.3 },
  },
  { name: `${label}: pushed`, unit: 'requests/s', rounds: perSecondOf(product), better: 'more' },
  { name: `${label}: the client alone`, unit: 'requests/s', rounds: perSecondOf(direct) },
  ...costFigures(`request, ${label}`, ['dispatcher'], product),
]
