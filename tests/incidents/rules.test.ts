import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { alarms, rulesFile } from '../support/alarms.ts'
import { runsGroup } from '../support/runs-group.ts'
import { quietDay } from './quiet-day.ts'
import { simulate } from './simulated.ts'
import { simulatedIncidents } from './simulated-incidents.ts'

const rules = readFileSync(rulesFile, 'utf8')
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined
if (!hasPromtool) process.emitWarning('promtool (Debian package prometheus) is not installed: the alarms were not run')
const ifPromtool = (title: string, run: () => Promise<void>): void => (hasPromtool ? test : test.skip)(title, run)

test('every alarm has a simulated incident', () => {
  expect(simulatedIncidents.map(({ name }) => name)).toEqual(alarms.map(({ alert }) => alert))
})

ifPromtool('each alarm is raised within two minutes and ends within five, and no other is raised (P-22)', async () => {
  for (const seconds of new Set(simulatedIncidents.map(({ evaluationSeconds }) => evaluationSeconds))) {
    const some = simulatedIncidents.filter(({ evaluationSeconds }) => evaluationSeconds === seconds)
    expect(await simulate(rules, some, seconds)).toBeUndefined()
  }
})

const hours = runsGroup('incidents') ? 24 : 2
ifPromtool(`${hours} hours without an incident raise no alarm`, async () => {
  expect(await simulate(rules, [quietDay(hours * 3600)], 60)).toBeUndefined()
})

interface Gap {
  readonly from: string
  readonly to: string
  /** Simulated incident that finds the gap. */
  readonly by: string
}

/** Gaps in the rules that the simulations must find. Each replaced text occurs once. */
const gaps: Readonly<Record<string, Gap>> = {
  'a rule is renamed': { from: '- alert: NotReady', to: '- alert: Unready', by: 'NotReady' },
  'a metric is gone': { from: 'max(gateway_in_doubt_messages)', to: 'max(gateway_messages)', by: 'MessagesInDoubt' },
  'a threshold is wrong': { from: '{lane="single"}) > 45', to: '{lane="single"}) > 450', by: 'RouteWaits' },
  'absent() is missing': { from: 'absent(gateway_dispatcher', to: '0 > sum(gateway_dispatcher', by: 'NoDispatcher' },
  'an alarm does not end': { from: '{job="gateway"}[4m]) >= 2', to: '{job="gateway"}[4h]) >= 2', by: 'CrashLoop' },
  'an alarm has no cause': { from: '> 750e6', to: '> 150e6', by: 'MemoryHigh' },
}

describe('planted gaps', () => {
  for (const [gap, { from, to, by }] of Object.entries(gaps)) {
    ifPromtool(`it is found that ${gap}`, async () => {
      expect(rules.split(from)).toHaveLength(2)
      const some = simulatedIncidents.filter(({ name }) => name === by)
      expect(await simulate(rules.replace(from, to), some, 30)).toContain('FAILED')
    })
  }
})
