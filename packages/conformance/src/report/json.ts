import { bySection, countsOf, type Summary } from './summary.ts'

/** The report as one JSON document; docs/conformance.md describes it. */
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
