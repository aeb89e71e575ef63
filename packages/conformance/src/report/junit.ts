import { create } from 'xmlbuilder2'
import { bySection, countsOf, type Summary } from './summary.ts'

/** The report as JUnit XML: a suite for each section. What cannot be tested from outside is skipped. */
export function junitReport({ results, elsewhere, seconds }: Summary): string {
  const { failed, 'not testable': skipped } = countsOf(results)
  const document = create({ version: '1.0', encoding: 'utf-8' })
  const root = document.ele('testsuites', {
    name: 'gateway-conformance',
    tests: results.length + elsewhere.length,
    failures: failed,
    skipped: skipped + elsewhere.length,
    time: seconds,
  })
  for (const [section, of] of bySection(results)) {
    const counts = countsOf(of)
    const suite = root.ele('testsuite', {
      name: section,
      tests: of.length,
      failures: counts.failed,
      skipped: counts['not testable'],
    })
    for (const {
      case: { title },
      outcome,
      milliseconds,
    } of of) {
      const one = suite.ele('testcase', { classname: section, name: title, time: milliseconds / 1000 })
      if (outcome.is === 'failed')
        one.ele('failure', { message: printable(outcome.why) }).txt(printable(outcome.lastExchange))
      if (outcome.is === 'not testable') one.ele('skipped', { message: outcome.why })
    }
  }
  if (elsewhere.length > 0) {
    const suite = root.ele('testsuite', {
      name: 'not testable from outside',
      tests: elsewhere.length,
      failures: 0,
      skipped: elsewhere.length,
    })
    for (const { of, what, by } of elsewhere)
      suite.ele('testcase', { classname: of, name: what }).ele('skipped', { message: `covered by ${by}` })
  }
  return document.end({ prettyPrint: true })
}

/** Without what XML cannot carry. */
const printable = (text: string): string =>
  text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
