import type { CaseResult } from '../run-suite.ts'
import { byNumber, countsOf, type Summary } from './summary.ts'

/**
 * The report for people: how many cases test each number of the contract and what came of them, then what failed and what could not
 * be tested.
 */
export function textReport({ results, elsewhere, seconds, creditsSpent }: Summary): string {
  const { passed, failed, 'not testable': untestable } = countsOf(results)
  const spent = creditsSpent === undefined ? '' : ` ${creditsSpent} credits were spent.`
  return [
    row('TESTED', 'PASSED', 'FAILED', 'NOT TESTABLE'),
    ...byNumber(results).map(([number, of]) => {
      const counts = countsOf(of)
      return row(number, counts.passed, counts.failed, counts['not testable'])
    }),
    '',
    ...results.flatMap(details),
    ...elsewhere.map(({ of, what, by }) => `not testable from outside: ${of}: ${what} (${by})`),
    '',
    `${passed} passed, ${failed} failed, ${untestable} not testable here, in ${seconds} s.${spent}`,
    '',
  ].join('\n')
}

const row = (number: string, ...counts: readonly (number | string)[]): string =>
  number.padEnd(18) + counts.map((count) => String(count).padStart(14)).join('')

function details({ case: { of, title }, outcome }: CaseResult): string[] {
  if (outcome.is === 'passed') return []
  if (outcome.is === 'not testable') return [`not testable here: ${of[0]}: ${title}: ${outcome.why}`]
  const said = `${outcome.why}\nlast request and answer: ${outcome.lastExchange}`
  return [`FAILED: ${of.join('; ')}: ${title}`, ...said.split('\n').map((line) => `  ${line}`)]
}
