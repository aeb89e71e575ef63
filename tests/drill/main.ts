import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { testSeed } from '@gateway/core/testing'
import { forms, isJudged, type Form } from './failover.ts'
import { runDrill } from './run.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    form: { type: 'string', multiple: true, default: [] },
    root: { type: 'string' },
    'remove-logs': { type: 'boolean', default: false },
    'until-broken': { type: 'boolean', default: false },
  },
})
if (positionals.join() !== 'failover') throw new Error('drill failover --seed S --rounds N [--form NAME]')

const isForm = (name: string): name is Form => forms.includes(name as Form)
const chosen = values.form.map((name) => {
  if (!isForm(name)) throw new Error(`there is no form ${name}; there are ${forms.join(', ')}`)
  return name
})
const first = values.seed === undefined ? testSeed() : Number(values.seed)
const say = (line: string): void => console.log(`${new Date().toISOString()} ${line}`)
let broken = 0
for (let round = 0; round < Number(values.rounds); round++) {
  const all = chosen.length > 0 ? chosen : forms
  const form = all[round % all.length] as Form
  const seed = first + round
  say(`round ${round + 1}: ${form}, seed ${seed}`)
  const { figures, gap } = await runDrill({
    form,
    seed,
    root: values.root ?? fileURLToPath(new URL('../..', import.meta.url)),
    keepsLogs: !values['remove-logs'],
    endsWhenBroken: values['until-broken'],
    log: say,
  }).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
  const parts = (['unready', 'decision', 'promotion', 'resumption'] as const).map(
    (part) => `${part} ${gap[part] === undefined ? 'none' : Math.round(gap[part])} ms`,
  )
  const counts = ['recipients accepted', 'replies delivered', 'events received', 'messages 106'].map(
    (name) => `${name} ${figures.of(name)}`,
  )
  console.log(`${parts.join(', ')}; ${counts.join(', ')}`)
  if (gap.lost !== undefined)
    console.log(`lost: ${gap.lost.messages.length} of ${gap.lost.of} messages (${gap.lost.messages.join(' ')})`)
  if (gap.inDoubt !== undefined) console.log(`held: ${gap.inDoubt.held} messages, of which ${gap.inDoubt.ended} ended`)
  const judged = figures.violations.filter((line) => isJudged(form, line))
  for (const violation of judged) console.log(violation)
  if (judged.length > 0) broken++
}
say(broken === 0 ? 'every promise held' : 'promises were broken')
process.exit(broken === 0 ? 0 : 1)
