import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from '../benchmark.ts'
import { openAccounts } from '../environment/accounts.ts'
import { addSmppCredential, type SmppLogin } from '../environment/smpp-credentials.ts'
import { measured } from '../environment/usage.ts'
import type { Figure } from '../figures/figure.ts'

const accountCount = 5
const binds = 1000
/** Free port of the SMPP server of the benchmark. */
const port = 27_751

/** Memory and CPU of an SMPP server with many idle binds. */
export const smppBinds: Benchmark = {
  name: 'smpp-binds',
  title: `an SMPP server with ${binds} idle transceivers of ${accountCount} accounts, and without`,
  goals: [],
  runs: 'in full runs',
  run: async (environment) => {
    const smpp = await environment.start('smpp', { SMPP_PORT: String(port) })
    const accounts = await openAccounts(environment.database, accountCount)
    const limits = { binds: binds / accountCount, window: 10 }
    const logins: SmppLogin[] = []
    for (const { id } of accounts) logins.push(await addSmppCredential(environment, id, limits))
    // At least one enquire_link for each bind is within the measurement, since the server sends one after 30 s.
    const seconds = environment.quick ? 35 : 90
    const idle = async (of: string): Promise<Figure[]> => {
      const { usage } = await measured(environment.server, [smpp], () => delay(seconds * 1000))
      const { residentMegabytes } = await smpp.memory()
      const percent = (microseconds: number) => [microseconds / usage.seconds / 1e4]
      const figure = (name: string, unit: string, rounds: number[]): Figure => ({
        ...{ name: `${of}: ${name}`, unit, rounds },
        better: 'less',
      })
      return [
        figure('memory of smpp', 'MB', [residentMegabytes]),
        figure('CPU of smpp', '%', percent(usage.apps[0] ?? NaN)),
        figure('CPU of PostgreSQL', '%', percent(usage.postgres)),
      ]
    }
    const without = await idle('no binds')
    const worker = environment.worker()
    const { result, usage } = await measured(environment.server, [smpp], () =>
      worker.run('idleBinds', { port, logins, binds }),
    )
    const withBinds = await idle(`${binds} idle binds`)
    const { open } = await worker.run('openIdleBinds', undefined)
    environment.check(
      'every bind stayed open',
      open === binds && result.open === binds ? undefined : `${open} of ${binds} are open`,
    )
    const opening: Figure = { name: 'binds opened', unit: '/s', rounds: [binds / usage.seconds], better: 'more' }
    return { figures: [...without, opening, ...withBinds], notes: ['Percent of one core.'] }
  },
}
