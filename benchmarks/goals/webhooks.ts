import type { Benchmark } from '../benchmark.ts'
import { openAccounts } from '../environment/accounts.ts'
import { apart, payingNothing } from './webhooks-apart.ts'
import { pushingWaiting } from './webhooks-pushing.ts'
import { livingWith } from './webhooks-living.ts'
import { distant } from '../loads/webhook-receiver.ts'
import { addEndpoint, pushingVariables } from './webhooks-endpoints.ts'

/**
 * Compares pushing with the HTTP client alone and bulk sends with and without an endpoint, and measures the cost for an
 * account without an endpoint.
 */
export const webhooks: Benchmark = {
  name: 'webhooks',
  title: 'events pushed to one healthy endpoint; bulk with an endpoint and without; accounts without any',
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const receiving = environment.worker()
    const { url } = await receiving.run('receiver', {})
    const rest = await environment.start('rest', pushingVariables)
    const dispatcher = await environment.start('dispatcher', pushingVariables)
    const [on, off, small] = await openAccounts(environment.database, 3)
    if (on === undefined || off === undefined || small === undefined) throw new Error('no accounts')
    const endpoint = await addEndpoint(rest.url, on.key, { url, listSize: 100 })
    const smallEndpoint = await addEndpoint(rest.url, small.key, { url, listSize: 1 })
    const distantEndpoint = await addEndpoint(rest.url, small.key, { url: url + distant, listSize: 100 })
    const processes = { rest, dispatcher, sending: environment.worker(), receiving, url }

    const nothing = await payingNothing(environment, processes, off.key, await apart(environment))
    const living = await livingWith(environment, processes, { on: on.key, off: off.key })
    const pushing = await pushingWaiting(environment, processes, {
      key: on.key,
      endpoint,
      smallEndpoint,
      distantEndpoint,
    })
    return {
      figures: [...pushing, ...living, ...nothing],
      notes: [
        'Requests are counted by the receiver, from the first to the last; five are in flight, with the gateway and without.',
        'The receiver is a process of its own on the same cores, and does as little as it can.',
        'The client alone is given the same bodies as text, which it turns into bytes.',
      ],
    }
  },
}
