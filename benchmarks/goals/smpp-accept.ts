import { openAccounts } from '../environment/accounts.ts'
import type { BenchmarkEnvironment } from '../environment/environment.ts'
import type { Started } from '../environment/processes.ts'
import { kannelUser, startKannel } from '../environment/kannel.ts'
import { inRounds } from '../environment/rounds.ts'
import { addSmppCredential } from '../environment/smpp-credentials.ts'
import { measured } from '../environment/usage.ts'
import type { Benchmark } from '../benchmark.ts'
import { costFigures, latencyFigures } from '../figures/costs.ts'
import type { Figure } from '../figures/figure.ts'
import { ratios } from '../figures/spread.ts'
import type { SubmitLoad } from '../loads/submit-load.ts'
import type { Worker } from '../loads/workers.ts'
import { accepting, keysOf, perSecondOf, type Accepting } from './accepting.ts'

const accountCount = 5
const binds = 20
const window = 50
/** Free port of the SMPP server of the benchmark. */
const port = 27_750

/** Submissions of customers over SMPP, without dispatching. */
export const smppAccept: Benchmark = {
  name: 'smpp-accept',
  title: `submissions over ${binds} binds with a window of ${window}, and over one with a window of 1, beside single REST sends`,
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const rest = await environment.start('rest')
    const smpp = await environment.start('smpp', { SMPP_PORT: String(port) })
    const accounts = await openAccounts(environment.database, accountCount)
    const logins = await Promise.all(accounts.map(({ id }) => addSmppCredential(environment, id, { binds, window })))
    const worker = environment.worker()
    const seconds = environment.quick ? 4 : 8
    const submit = (load: Pick<SubmitLoad, 'binds' | 'window' | 'perSecond'>) => (warmUp: boolean) =>
      submitting(environment, smpp, worker, { logins, seconds: warmUp ? 3 : seconds, ...load })
    const { many, one, single } = await inRounds(environment.quick ? 3 : 5, {
      many: submit({ binds, window }),
      one: submit({ binds: 1, window: 1 }),
      single: (warmUp) =>
        accepting(environment, rest, worker, {
          ...{ face: 'rest' as const, keys: keysOf(accounts), connections: 32, recipients: 1 },
          seconds: warmUp ? 3 : seconds,
        }),
    })
    const kannel = await kannelFigures(environment, worker, seconds)
    const half = Math.round(Math.max(...perSecondOf(many)) / 2)
    const { paced } = await inRounds(3, { paced: submit({ binds, window, perSecond: half }) })
    return {
      figures: [
        { name: 'submissions', unit: '/s', rounds: perSecondOf(many), better: 'more' },
        { name: 'single REST sends', unit: '/s', rounds: perSecondOf(single) },
        {
          name: 'submissions beside REST sends',
          unit: '',
          rounds: ratios(perSecondOf(many), perSecondOf(single)),
          better: 'more',
        },
        { name: 'submissions of one bind with a window of 1', unit: '/s', rounds: perSecondOf(one), better: 'more' },
        ...latencyFigures(
          `submission at half the load (${half} /s)`,
          paced.map(({ latencies }) => latencies),
        ),
        ...costFigures('submission', ['smpp'], many),
        ...costFigures('REST send', ['rest'], single),
        ...kannel,
      ],
      notes: [
        kannel.length > 0
          ? 'Kannel stores messages in files without waiting for the disk. Its SMPP server, OpenSMPPBox, is no Debian package.'
          : 'Kannel is not installed.',
        'Wanted: 1.2 times REST, 400 /s with a window of 1, and a p99 below 20 ms at half the load.',
      ],
    }
  },
}

/** Measures how fast Kannel accepts single messages over HTTP. Returns nothing if Kannel is not installed. */
async function kannelFigures(
  environment: BenchmarkEnvironment,
  worker: Worker,
  seconds: number,
): Promise<readonly Figure[]> {
  const kannel = await startKannel(environment.folder)
  if (kannel === undefined) return []
  try {
    const send = (length: number) => {
      const load = { ...kannelUser, url: kannel.url, connections: 32, firstNumber: environment.numbers(1_000_000) }
      return worker.run('kannelSends', { ...load, seconds: length })
    }
    await send(2)
    const before = await kannel.cpu()
    const { accepted, seconds: took } = await send(seconds)
    const cpu = (await kannel.cpu()) - before
    return [
      { name: 'single sends to Kannel over HTTP', unit: '/s', rounds: [accepted / took] },
      { name: 'send to Kannel: CPU of both boxes', unit: 'µs each', rounds: [cpu / accepted] },
    ]
  } finally {
    await kannel.stop()
  }
}

async function submitting(
  environment: BenchmarkEnvironment,
  smpp: Started,
  worker: Worker,
  load: Omit<SubmitLoad, 'firstNumber' | 'port'>,
): Promise<Accepting> {
  const firstNumber = environment.numbers(1_000_000)
  const { result, usage } = await measured(environment.server, [smpp], () =>
    worker.run('submits', { ...load, port, firstNumber }),
  )
  for (const bound of result.accepted) environment.accepted.push(bound)
  const [[status, times] = []] = Object.entries(result.failures)
  environment.check(
    'each submission over SMPP was answered with command_status 0',
    status === undefined ? undefined : `${String(times)} times ${status}`,
  )
  const { recipients, seconds, latencies, cpu } = result
  return { usage, count: recipients, generator: cpu, perSecond: recipients / seconds, latencies }
}
