import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import { ratios } from '../figures/spread.ts'
import { openAccounts } from '../environment/accounts.ts'
import { inRounds } from '../environment/rounds.ts'
import { measured } from '../environment/usage.ts'
import { idsOf } from '../loads/id-ranges.ts'
import { restPost } from '../loads/send-requests.ts'
import { keysOf, perSecondOf } from './accepting.ts'
import { living } from './living.ts'

const connections = 8
const perRequest = 1000
const messages = 50_000

/** Plain table with the rows of `message` and only the primary key as index. */
const statusTable = `
create table raw_status (id bigint primary key, account_id int not null, msisdn bigint not null, code smallint not null, code_at timestamptz);
insert into raw_status select id, account_id, msisdn, code, code_at from message;
analyze raw_status`

/** Status requests (docs/performance.md, goal 7). */
export const status: Benchmark = {
  name: 'status',
  title: `status of ${perRequest} recent ids over REST beside a raw "= any" select of as many`,
  goals: [7],
  runs: 'always',
  run: async (environment) => {
    const { database, quick } = environment
    const rest = await environment.start('rest')
    const dispatcher = await environment.start('dispatcher', { CARRIERS: 'simulator:?delayMs=0' })
    const accounts = await openAccounts(database, 1)
    const worker = environment.worker()
    const keys = keysOf(accounts)
    await living(environment, [rest, dispatcher], worker, { keys, connections: 4, recipients: 1000, messages })
    await dispatcher.stop()
    await database.query(statusTable)
    const lists = spreadOut(idsOf(environment.accepted), perRequest)
    const wires = lists.map((list) => restPost(keys[0] ?? '', '/sms/outgoing/status', list))

    const seconds = quick ? 3 : 6
    const { product, limit } = await inRounds(quick ? 3 : 5, {
      product: async (warmUp) => {
        const { result, usage } = await measured(environment.server, [rest], () =>
          worker.run('asks', {
            url: rest.url,
            connections,
            wires,
            mark: '"status":"DELIVERED"',
            marks: perRequest,
            seconds: warmUp ? 2 : seconds,
          }),
        )
        const [[failure, times] = []] = Object.entries(result.failures)
        environment.check(
          'each status answer told of as many messages as were asked for',
          failure === undefined ? undefined : `${String(times)} times: ${failure}`,
        )
        const { requests, latencies, cpu } = result
        return { usage, count: requests * perRequest, generator: cpu, perSecond: requests / result.seconds, latencies }
      },
      limit: async (warmUp) => {
        const { connectionString } = database
        const { result, usage } = await measured(environment.server, [], () =>
          worker.run('rawSelect', { connectionString, connections, ids: lists, seconds: warmUp ? 1 : seconds }),
        )
        const { selects, latencies, cpu, wrong } = result
        environment.check('each raw select found its rows', wrong === 0 ? undefined : `${wrong} did not`)
        return { usage, count: selects * perRequest, generator: cpu, perSecond: selects / result.seconds, latencies }
      },
    })
    return {
      figures: [
        { name: `requests of ${perRequest}`, unit: '/s', rounds: perSecondOf(product), better: 'more' },
        { name: 'raw selects', unit: '/s', rounds: perSecondOf(limit) },
        {
          name: 'status requests beside raw selects',
          unit: '',
          rounds: ratios(perSecondOf(product), perSecondOf(limit)),
          better: 'more',
          goal: { row: 7, is: 'at least', value: 0.45 },
        },
        ...latencyFigures(
          'status request',
          product.map(({ latencies }) => latencies),
        ),
        ...costFigures('id', ['rest'], product),
        ...costFigures('raw row', [], limit),
      ],
      notes: [],
    }
  },
}

/** Divides all ids into lists, each with ids from the whole range. */
function spreadOut(ids: readonly number[], size: number): number[][] {
  const lists = Math.floor(ids.length / size)
  return Array.from({ length: lists }, (_, list) =>
    Array.from({ length: size }, (_id, i) => ids[i * lists + list] ?? 0),
  )
}
