import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Value of a series at a time in seconds; undefined while the series does not exist. */
export type Curve = (seconds: number) => number | undefined

/** Curves by series, such as `up{job="gateway"}`. */
export type Curves = Readonly<Record<string, Curve>>

/** Alarms that must be on at a time in seconds, and no others. */
export interface Expected {
  readonly seconds: number
  readonly alarms: readonly string[]
}

export interface Simulation {
  readonly name: string
  readonly curves: Curves
  readonly expected: readonly Expected[]
  /** Alarms must be on at no time. */
  readonly isQuiet?: boolean
}

const sampleSeconds = 15

/** Runs the rules over each simulation with promtool. Resolves to its report of differences, or to undefined. */
export async function simulate(
  rules: string,
  simulations: readonly Simulation[],
  evaluationSeconds = sampleSeconds,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-rules-'))
  try {
    await writeFile(join(folder, 'rules.yaml'), rules)
    const file = join(folder, 'rules.test.json')
    const tests = simulations.map(promtoolTest)
    const interval = `${evaluationSeconds}s`
    await writeFile(file, JSON.stringify({ rule_files: ['rules.yaml'], evaluation_interval: interval, tests }))
    await promisify(execFile)('promtool', ['test', 'rules', file])
    return undefined
  } catch (error) {
    const { code, stderr, stdout } = error as { code: unknown; stderr: string; stdout: string }
    if (code !== 1) throw error
    return stderr + stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function promtoolTest({ name, curves, expected, isQuiet = false }: Simulation) {
  const last = Math.max(...expected.map(({ seconds }) => seconds))
  const series = Object.entries(curves).map(([text, curve]) => ({ series: text, values: valuesOf(curve, last) }))
  const states = expected.map(({ seconds, alarms }) => ({
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${seconds}s`,
    exp_samples: alarms.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  }))
  const never = {
    expr: `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${last}s]))`,
    eval_time: `${last}s`,
    exp_samples: [],
  }
  return {
    name,
    interval: `${sampleSeconds}s`,
    input_series: series,
    promql_expr_test: isQuiet ? [...states, never] : states,
  }
}

/** Returns the samples of a curve. A series that ends is stale, as after a failed scrape. */
function valuesOf(curve: Curve, last: number): string {
  const values: string[] = []
  let wasThere = false
  for (let seconds = 0; seconds <= last; seconds += sampleSeconds) {
    const value = curve(seconds)
    values.push(value === undefined ? (wasThere ? 'stale' : '_') : String(Number(value.toFixed(6))))
    wasThere = value !== undefined
  }
  return values.join(' ')
}
