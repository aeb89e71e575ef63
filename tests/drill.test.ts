import { chanceOf, testSeed } from '@gateway/core/testing'
import { chanceOfForm, isJudged } from './drill/failover.ts'
import { runDrill } from './drill/run.ts'
import { root } from './support/process.ts'

// Runs one of the six forms, chosen by the seed. `npx pnpm drill failover` runs all of them.
test('the loss of a primary loses nothing, and its standby is written to within 5 s of its promotion', async () => {
  const seed = testSeed()
  const form = chanceOfForm(chanceOf(seed))
  const { figures, gap } = await runDrill({ form, seed, root, keepsLogs: false })
  const { unready = NaN, promotion = NaN, resumption = NaN } = gap
  process.stdout.write(`${form}: not ready ${unready} ms, promoted ${promotion} ms, accepted ${resumption} ms\n`)
  expect(figures.violations.filter((line) => isJudged(form, line))).toEqual([])
  // The drill proves something only if the load was high enough.
  expect(figures.of('recipients accepted')).toBeGreaterThan(30)
}, 400_000)
