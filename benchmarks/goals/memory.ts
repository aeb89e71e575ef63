import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from '../benchmark.ts'
import { openAccounts } from '../environment/accounts.ts'
import { drained } from '../environment/drained.ts'
import { keysOf } from './accepting.ts'

const queued = 1_000_000
const more = 100_000

/** Memory of the processes (docs/performance.md, goal 11). */
export const memory: Benchmark = {
  name: 'memory',
  title: 'the all-in-one process with a million messages queued, draining and accepting more',
  goals: [11],
  runs: 'always',
  run: async (environment) => {
    const { database, quick } = environment
    const worker = environment.worker()
    const filling = await environment.start('rest')
    const keys = keysOf(await openAccounts(database, 20))
    const load = { face: 'rest', keys, connections: 4, recipients: 1000 } as const
    const filled = await environment.sends(worker, { ...load, url: filling.url, requests: queued / 1000 })
    await filling.stop()

    const allInOne = await environment.start('all-in-one', { CARRIERS: 'simulator:?delayMs=0' })
    const start = performance.now()
    const added = await environment.sends(worker, { ...load, url: allInOne.url, requests: more / 1000 })
    // In a quick run most of the queue is still there at the end, which does not affect the memory of the process.
    if (quick) await delay(20_000)
    else await drained(database, filled.accepted, added.accepted)
    const seconds = (performance.now() - start) / 1000
    const delivered = await database.number('select count(*) from message where code = 0')
    const { peakMegabytes, residentMegabytes } = await allInOne.memory()
    // Stop the process, so that messages do not move during the checks.
    await allInOne.stop()
    return {
      figures: [
        {
          name: 'memory of all-in-one, most',
          unit: 'MB',
          rounds: [peakMegabytes],
          better: 'less',
          goal: { row: 11, is: 'at most', value: 300 },
        },
        { name: 'memory of all-in-one, at the end', unit: 'MB', rounds: [residentMegabytes], better: 'less' },
        { name: 'messages delivered while it was watched', unit: '', rounds: [delivered] },
        { name: 'messages delivered', unit: '/s', rounds: [delivered / seconds], better: 'more' },
      ],
      notes: ['Resident memory of the whole process, the simulated carrier in it; the database is another process.'],
    }
  },
}
