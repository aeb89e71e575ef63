import type { Benchmark } from '../benchmark.ts'
import type { Stage } from '../figures/result.ts'
import { openAccounts } from '../environment/accounts.ts'
import { drained } from '../environment/drained.ts'
import type { Started } from '../environment/processes.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import { countStatements, type Statements } from '../environment/statements.ts'
import { measured, type Usage } from '../environment/usage.ts'
import { idsOf } from '../loads/id-ranges.ts'
import { restPost } from '../loads/send-requests.ts'
import type { Worker } from '../loads/workers.ts'
import { keysOf } from './accepting.ts'

type Load = Stage['load']

interface Processes {
  readonly rest: Started
  readonly dispatcher: Started
  readonly worker: Worker
  readonly keys: readonly string[]
  readonly statements: Statements | undefined
}

/** CPU time by stage: accepting without dispatching, then dispatching without accepting, then status queries. */
export const stages: Benchmark = {
  name: 'stages',
  title: 'CPU microseconds a message by stage',
  goals: [],
  runs: 'always',
  run: async (environment) => {
    const { database, quick } = environment
    const migrating = await environment.start('rest')
    await migrating.stop()
    const statements = await countStatements(environment.server, database)
    const rest = await environment.start('rest')
    const dispatcher = await environment.start('dispatcher', { CARRIERS: 'simulator:?delayMs=0', LEASE_SECONDS: '40' })
    const keys = keysOf(await openAccounts(database, 200))
    const processes = { rest, dispatcher, worker: environment.worker(), keys, statements }
    const bulk = { recipients: 1000, connections: 4 }
    const single = { recipients: 1, connections: 64 }
    await sending(environment, processes, 'sends of 1000', { ...bulk, requests: 20 })
    await sending(environment, processes, 'single sends', { ...single, requests: 5000 })
    const ofBulk = await sending(environment, processes, 'sends of 1000', { ...bulk, requests: quick ? 100 : 300 })
    const ofSingle = await sending(environment, processes, 'single sends', {
      ...single,
      requests: quick ? 15_000 : 50_000,
    })
    const ofStatus = await asking(environment, processes, quick ? 3 : 8)
    return {
      figures: [],
      stages: [...ofBulk, ...ofSingle, ...ofStatus],
      notes: [
        statements === undefined
          ? 'This server does not count statements (pg_stat_statements): PostgreSQL is shown by phase only.'
          : "PostgreSQL's CPU of each phase (with commits, log and what works in the background) is shared out by the execution time of its statements.",
      ],
    }
  },
}

async function sending(
  environment: BenchmarkEnvironment,
  processes: Processes,
  load: Load,
  sends: { recipients: number; connections: number; requests: number },
): Promise<Stage[]> {
  const { rest, dispatcher, worker, keys, statements } = processes
  dispatcher.pause()
  await statements?.reset()
  const accept = await measured(environment.server, [rest], () =>
    environment.sends(worker, { url: rest.url, face: 'rest', keys, ...sends }),
  )
  const { recipients, accepted } = accept.result
  const accepting = await stagesOf(load, accept.usage, recipients, statements, {
    node: 'HTTP, parsing, validating, screening, answering',
    postgres: 'accepting',
  })
  await statements?.reset()
  const dispatch = await measured(environment.server, [dispatcher], async () => {
    dispatcher.goOn()
    await drained(environment.database, accepted)
  })
  const dispatching = await stagesOf(load, dispatch.usage, recipients, statements, {
    node: 'claiming, submitting, recording, receipts',
    postgres: 'dispatching',
  })
  return [...accepting, ...dispatching]
}

async function asking(
  environment: BenchmarkEnvironment,
  { rest, worker, keys, statements }: Processes,
  seconds: number,
): Promise<Stage[]> {
  const [key = ''] = keys
  const all = idsOf(environment.accepted)
  const own = new Set(
    (
      await environment.database.query<{ id: string }>(
        'select id from message where account_id = (select min(id) from account)',
      )
    ).map(({ id }) => Number(id)),
  )
  const ids = all.filter((id) => own.has(id)).slice(0, 1000)
  const wires = [restPost(key, '/sms/outgoing/status', ids)]
  await statements?.reset()
  const { result, usage } = await measured(environment.server, [rest], () =>
    worker.run('asks', {
      url: rest.url,
      connections: 4,
      wires,
      mark: '"status":"DELIVERED"',
      marks: ids.length,
      seconds,
    }),
  )
  return stagesOf('status of 1000', usage, result.requests * ids.length, statements, {
    node: 'HTTP, parsing, answering',
    postgres: 'status',
  })
}

async function stagesOf(
  load: Load,
  usage: Usage,
  messages: number,
  statements: Statements | undefined,
  names: { readonly node: string; readonly postgres: string },
): Promise<Stage[]> {
  const postgres = usage.postgres / messages
  const shares = (await statements?.shares()) ?? [{ stage: names.postgres, share: 1 }]
  return [
    { load, process: 'node', stage: names.node, microseconds: (usage.apps[0] ?? NaN) / messages },
    ...shares
      .filter(({ share }) => share >= 0.005)
      .map(({ stage, share }) => ({ load, process: 'PostgreSQL' as const, stage, microseconds: share * postgres })),
  ]
}
