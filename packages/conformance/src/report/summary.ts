import type { CoveredElsewhere } from '../case.ts'
import type { CaseResult } from '../run-suite.ts'

/** What a run tells, whatever the form of its report. */
export interface Summary {
  readonly addresses: Readonly<Record<'rest' | 'asp' | 'xml', string>>
  readonly seconds: number
  /** Credits that the accounts had before and have now, where that could be asked. */
  readonly creditsSpent: number | undefined
  readonly results: readonly CaseResult[]
  readonly elsewhere: readonly CoveredElsewhere[]
}

export type Counts = Readonly<Record<'passed' | 'failed' | 'not testable', number>>

export const countsOf = (results: readonly CaseResult[]): Counts => {
  const count = (is: keyof Counts) => results.filter(({ outcome }) => outcome.is === is).length
  return { passed: count('passed'), failed: count('failed'), 'not testable': count('not testable') }
}

type Groups = readonly (readonly [name: string, results: readonly CaseResult[]])[]

/** The results of each section, in the order of the contract; each result is in one. */
export const bySection = (results: readonly CaseResult[]): Groups => grouped(results, ({ section }) => [section])

/** The results of each number of the contract, in its order; a case may test several. */
export const byNumber = (results: readonly CaseResult[]): Groups => grouped(results, ({ case: { of } }) => of)

function grouped(results: readonly CaseResult[], namesOf: (result: CaseResult) => readonly string[]): Groups {
  const names = [...new Set(results.flatMap(namesOf))].toSorted((a, b) => inContract(a) - inContract(b))
  return names.map((name) => [name, results.filter((result) => namesOf(result).includes(name))])
}

/** The specification comes first, its rules after their section; then the rulings, then the additions. */
function inContract(number: string): number {
  const [, part, chapter, section, rule] = /^(spec |C)?(\d+)(?:\.(\d+))?(?:, rule (\d+))?$/.exec(number) ?? []
  const place = Number(chapter) * 100_000 + Number(section ?? 0) * 100 + Number(rule ?? 0)
  return place + (part === 'spec ' ? 0 : part === 'C' ? 2e7 : 1e7)
}
