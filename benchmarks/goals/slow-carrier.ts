import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import type { Benchmark } from '../benchmark.ts'
import { openAccounts } from '../environment/accounts.ts'
import { submissionWaits } from '../environment/submission-waits.ts'
import { latencyFigures } from '../figures/costs.ts'
import { latenciesOf } from '../loads/latencies.ts'
import { keysOf } from './accepting.ts'

const carrierPerSecond = 50
const singlesPerSecond = 2

const recorded = 'select count(*) from message where account_id = $1'

/** Fairness if the carrier is the bottleneck: a single message of another account is submitted within a second. */
export const slowCarrier: Benchmark = {
  name: 'slow-carrier',
  title: `single sends of one account behind the bulk backlog of another, a carrier of ${carrierPerSecond} a second`,
  goals: [],
  runs: 'always',
  run: async (environment) => {
    const worker = environment.worker()
    const rest = await environment.start('rest')
    const accounts = await openAccounts(environment.database, 2)
    const [bulk = '', single = ''] = keysOf(accounts)
    const backlog = environment.quick ? 200_000 : 1_000_000
    const load = { url: rest.url, face: 'rest' } as const
    await environment.sends(worker, {
      ...load,
      keys: [bulk],
      connections: 4,
      recipients: 1000,
      requests: backlog / 1000,
    })
    const carrier = `simulator:?delayMs=0&perSecond=${carrierPerSecond}`
    const dispatcher = await environment.start('dispatcher', { CARRIERS: carrier })
    // Wait until the window is full of bulk messages.
    await delay(5000)
    const sent = await environment.sends(worker, {
      ...load,
      keys: [single],
      connections: 4,
      recipients: 1,
      perSecond: singlesPerSecond,
      seconds: environment.quick ? 12 : 60,
      keepsTimes: 'of requests',
    })
    await until(async () => (await environment.database.number(recorded, [accounts[1]?.id])) >= sent.requests, 120_000)
    const submitted = latenciesOf(await submissionWaits(environment, sent.times))
    await dispatcher.stop()
    return {
      figures: [
        {
          name: 'request to submitted, longest',
          unit: 'ms',
          rounds: [submitted.max],
          better: 'less',
          goal: { row: 'scale', is: 'at most', value: 1000 },
        },
        ...latencyFigures('request to submitted', [submitted]),
        ...latencyFigures('accept', [sent.latencies]),
        { name: 'single sends', unit: '', rounds: [sent.requests] },
        { name: 'backlog', unit: 'messages', rounds: [backlog] },
      ],
      notes: [],
    }
  },
}
