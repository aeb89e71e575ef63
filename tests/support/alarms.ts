import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from './process.ts'

/** Rule of deploy/prometheus/rules.yaml. */
export interface Alarm {
  readonly alert: string
  readonly expr: string
  /** How long the expression must hold, such as `30s`. Undefined means that the alarm fires at once. */
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url' | 'dashboard_url', string>>
}

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alarm[] }[]
}

export const rulesFile = join(root, 'deploy/prometheus/rules.yaml')

export const alarms: readonly Alarm[] = (parse(readFileSync(rulesFile, 'utf8')) as Rules).groups.flatMap(
  ({ rules }) => rules,
)

/** Returns the metrics that an expression names, without the suffixes of histograms. */
export const metricsIn = (expr: string): readonly string[] =>
  Array.from(expr.matchAll(/\b(?:gateway|nodejs|process|http)_[a-z0-9_]+|\bup\b/g), ([name]) =>
    name.replace(/_(?:bucket|sum|count)$/, ''),
  )
