import { parseArgs } from 'node:util'
import { testSeed } from '@gateway/core/testing'
import { runCampaign } from './campaign.ts'

const { values } = parseArgs({
  options: {
    /** Number of inputs of each endpoint. */
    count: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    /** Part of the names of the selected endpoints. */
    only: { type: 'string', default: '' },
  },
})
const seed = values.seed === undefined ? testSeed() : Number(values.seed)
console.log(`seed ${seed}`)
const begun = performance.now()
const { tallies, wrong } = await runCampaign({
  count: Number(values.count),
  seed,
  wants: ({ by, name }) => `${by} ${name}`.includes(values.only),
  onProgress: ({ target, inputs, done, slowestMs, statuses }) => {
    const share = `${((100 * done) / inputs).toFixed(0)} % done`
    const codes = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
    console.log(
      `${target.by} ${target.name}: ${inputs} inputs, ${share}, slowest ${slowestMs.toFixed(0)} ms; ${codes.join(', ')}`,
    )
  },
})
const inputs = tallies.reduce((sum, tally) => sum + tally.inputs, 0)
console.log(`${inputs} inputs in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
for (const each of wrong) console.log(each)
console.log(wrong.length === 0 ? 'nothing is wrong' : `${wrong.length} are wrong`)
process.exitCode = wrong.length === 0 ? 0 : 1
