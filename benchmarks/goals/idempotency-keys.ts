import type { Benchmark } from '../benchmark.ts'
import { costFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { accepting, keysOf, type Accepting } from './accepting.ts'

const connections = 32

/** Cost of an idempotency key (ruling 1.24). */
export const idempotencyKeys: Benchmark = {
  name: 'keys',
  title: `single REST sends with an idempotency key beside those without, over ${connections} connections and over one`,
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const keys = keysOf(await openAccounts(environment.database, 100))
    const worker = environment.worker()
    const side = (connections: number, isKeyed: boolean) => (warmUp: boolean) =>
      accepting(environment, rest, worker, {
        face: 'rest',
        keys,
        connections,
        recipients: 1,
        isKeyed,
        seconds: warmUp ? 2 : 4,
      })
    const { keyed, plain, keyedAlone, plainAlone } = await inRounds(environment.quick ? 3 : 7, {
      keyed: side(connections, true),
      plain: side(connections, false),
      keyedAlone: side(1, true),
      plainAlone: side(1, false),
    })
    return {
      figures: [
        { name: 'CPU with a key beside without', unit: '', rounds: ratios(cpuOf(keyed), cpuOf(plain)), better: 'less' },
        {
          name: 'the same over one connection',
          unit: '',
          rounds: ratios(cpuOf(keyedAlone), cpuOf(plainAlone)),
          better: 'less',
        },
        ...costFigures('send with a key', ['rest'], keyed),
        ...costFigures('send without', ['rest'], plain),
        ...costFigures('send with a key over one connection', ['rest'], keyedAlone),
        ...costFigures('send without over one connection', ['rest'], plainAlone),
      ],
      notes: ['A key may cost 1.3 times the CPU of a send.'],
    }
  },
}

/** Returns the CPU time of the process and of PostgreSQL, in µs a send. */
const cpuOf = (rounds: readonly Accepting[]): number[] =>
  rounds.map(({ usage, count }) => ((usage.apps[0] ?? NaN) + usage.postgres) / count)
