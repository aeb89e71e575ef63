import { create } from 'xmlbuilder2'
import type { CoveredElsewhere } from './case.ts'
import type { CaseResult } from './run-suite.ts'

/** Result of a run, for every form of report. */
export interface Summary {
  readonly addresses: Readonly<Record<'rest' | 'asp' | 'xml', string>>
  readonly seconds: number
  /** Credits that the run has cost, if the balances could be read. */
  readonly creditsSpent: number | undefined
  readonly results: readonly CaseResult[]
  readonly elsewhere: readonly CoveredElsewhere[]
}

export type Counts = Readonly<Record<'passed' | 'failed' | 'not testable' | 'not judged', number>>

export const countsOf = (results: readonly CaseResult[]): Counts => {
  const count = (is: keyof Counts) => results.filter(({ outcome }) => outcome.is === is).length
  return {
    passed: count('passed'),
    failed: count('failed'),
    'not testable': count('not testable'),
    'not judged': count('not judged'),
  }
}

type Groups = readonly (readonly [name: string, results: readonly CaseResult[]])[]

/** Groups results by section, in the order of the contract. Each result is in one section. */
export const bySection = (results: readonly CaseResult[]): Groups => grouped(results, ({ section }) => [section])

/**
 * Groups results by number of the contract, in the order of the contract. A result appears under each number that its
 * case tests.
 */
export const byNumber = (results: readonly CaseResult[]): Groups => grouped(results, ({ case: { of } }) => of)

function grouped(results: readonly CaseResult[], namesOf: (result: CaseResult) => readonly string[]): Groups {
  const names = [...new Set(results.flatMap(namesOf))].toSorted((a, b) => inContract(a) - inContract(b))
  return names.map((name) => [name, results.filter((result) => namesOf(result).includes(name))])
}

/**
 * Returns the position of a number: the specification first, with its rules after their section, then the rulings, then
 * the additions.
 */
function inContract(number: string): number {
  const [, part, chapter, section, rule] = /^(spec |C)?(\d+)(?:\.(\d+))?(?:, rule (\d+))?$/.exec(number) ?? []
  const place = Number(chapter) * 100_000 + Number(section ?? 0) * 100 + Number(rule ?? 0)
  return place + (part === 'spec ' ? 0 : part === 'C' ? 2e7 : 1e7)
}

/**
 * Formats a report for people: the number of cases and their results by number of the contract, then failures, then
 * cases that could not be tested or judged.
 */
export function textReport({ results, elsewhere, seconds, creditsSpent }: Summary): string {
  const { passed, failed, 'not testable': untestable, 'not judged': unjudged } = countsOf(results)
  const spent = creditsSpent === undefined ? '' : ` ${creditsSpent} credits were spent.`
  const busy = unjudged === 0 ? '' : `, ${unjudged} not judged because this machine was busy`
  return [
    row('TESTED', 'PASSED', 'FAILED', 'NOT TESTABLE', ...(unjudged > 0 ? ['NOT JUDGED'] : [])),
    ...byNumber(results).map(([number, of]) => {
      const counts = countsOf(of)
      const judged = [counts.passed, counts.failed, counts['not testable']]
      return row(number, ...judged, ...(unjudged > 0 ? [counts['not judged']] : []))
    }),
    '',
    ...results.flatMap(details),
    ...elsewhere.map(({ of, promise, by }) => `not testable from outside: ${of}: ${promise} (${by})`),
    '',
    `${passed} passed, ${failed} failed, ${untestable} not testable here${busy}, in ${seconds} s.${spent}`,
    '',
  ].join('\n')
}

const row = (number: string, ...counts: readonly (number | string)[]): string =>
  number.padEnd(18) + counts.map((count) => String(count).padStart(14)).join('')

function details({ case: { of, title }, outcome }: CaseResult): string[] {
  if (outcome.is === 'passed') return []
  if (outcome.is === 'not testable') return [`not testable here: ${of[0]}: ${title}: ${outcome.why}`]
  if (outcome.is === 'not judged') return [`not judged: ${of[0]}: ${title}: ${outcome.why}`]
  const reason = `${outcome.why}\nlast request and answer: ${outcome.lastExchange}`
  return [`FAILED: ${of.join('; ')}: ${title}`, ...reason.split('\n').map((line) => `  ${line}`)]
}

/** Formats the report as one JSON document, which docs/conformance.md describes. */
export function jsonReport({
  addresses,
  seconds,
  creditsSpent = null,
  results,
  elsewhere,
}: Omit<Summary, 'creditsSpent'> & { readonly creditsSpent?: number | null | undefined }): string {
  const sections = bySection(results).map(([section, of]) => ({
    section,
    ...countsOf(of),
    cases: of.map(({ case: { of: numbers, title }, outcome: { is, ...more }, milliseconds }) => ({
      title,
      of: numbers,
      outcome: is,
      ...more,
      milliseconds,
    })),
  }))
  return `${JSON.stringify({ addresses, seconds, creditsSpent, ...countsOf(results), sections, coveredElsewhere: elsewhere }, null, 2)}\n`
}

/**
 * Formats the report as JUnit XML, one suite for each section. Promises that cannot be tested from outside are skipped.
 */
export function junitReport({ results, elsewhere, seconds }: Summary): string {
  const { failed } = countsOf(results)
  const document = create({ version: '1.0', encoding: 'utf-8' })
  const root = document.ele('testsuites', {
    name: 'gateway-conformance',
    tests: results.length + elsewhere.length,
    failures: failed,
    skipped: skippedOf(results) + elsewhere.length,
    time: seconds,
  })
  for (const [section, of] of bySection(results)) {
    const counts = countsOf(of)
    const suite = root.ele('testsuite', {
      name: section,
      tests: of.length,
      failures: counts.failed,
      skipped: skippedOf(of),
    })
    for (const {
      case: { title },
      outcome,
      milliseconds,
    } of of) {
      const one = suite.ele('testcase', { classname: section, name: title, time: milliseconds / 1000 })
      if (outcome.is === 'failed')
        one.ele('failure', { message: printable(outcome.why) }).txt(printable(outcome.lastExchange))
      if (outcome.is === 'not testable' || outcome.is === 'not judged') one.ele('skipped', { message: outcome.why })
    }
  }
  if (elsewhere.length > 0) {
    const suite = root.ele('testsuite', {
      name: 'not testable from outside',
      tests: elsewhere.length,
      failures: 0,
      skipped: elsewhere.length,
    })
    for (const { of, promise, by } of elsewhere)
      suite.ele('testcase', { classname: of, name: promise }).ele('skipped', { message: `covered by ${by}` })
  }
  return document.end({ prettyPrint: true })
}

const skippedOf = (results: readonly CaseResult[]): number => {
  const counts = countsOf(results)
  return counts['not testable'] + counts['not judged']
}

/** Removes characters that XML cannot contain. */
const printable = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
