/**
 * Definitions in docs/contract.md and docs/reliability.md that other files may cite: sections with their rules,
 * rulings, and promises.
 */
export interface Citable {
  readonly sections: ReadonlySet<string>
  /** Numbers of the cited rules, such as `4.2, rule 3`. */
  readonly rules: ReadonlySet<string>
  readonly rulings: ReadonlySet<string>
  /** Numbers of the cited additions, such as `C1`. */
  readonly additions: ReadonlySet<string>
  readonly promises: ReadonlySet<string>
}

/** Parses headings `## 1.` and `### 4.2`, numbered rules below them, rulings `**1.11 …**`, and rows `| P-1 |`. */
export function readCitable(contract: string, reliability: string): Citable {
  const [partA = '', partB = ''] = contract.split('# Part B')
  const sections = new Set<string>()
  const rules = new Set<string>()
  let section = ''
  for (const line of partA.split('\n')) {
    section = /^##+ (\d+(?:\.\d+)?)/.exec(line)?.[1] ?? section
    if (section !== '') sections.add(section)
    const rule = /^(\d+)\. /.exec(line)?.[1]
    if (rule !== undefined) rules.add(`${section}, rule ${rule}`)
  }
  const found = (text: string, pattern: RegExp): Set<string> =>
    new Set([...text.matchAll(pattern)].flatMap(([, one]) => one ?? []))
  return {
    sections,
    rules,
    rulings: found(partB, /^\*\*(\d\.\d+) /gm),
    additions: found(partB, /^## (C\d+)\. /gm),
    promises: found(reliability, /^\| (P-\d+)/gm),
  }
}

const numbers = String.raw`\d+(?:\.\d+)?(?:(?:, | and | to )\d+\.\d+)*`

/** Returns the citations in `text` that cite no existing definition, as written. */
export function citesNothing(text: string, there: Citable): readonly string[] {
  const missing: string[] = []
  const check = (set: ReadonlySet<string>, one: string, written: string): void => {
    if (!set.has(one)) missing.push(written)
  }
  for (const [written, cited = '', , rules] of text.matchAll(
    /\b[Ss]pec(?:ification)? (\d+(?:\.\d+)?)(, rules? (\d+(?:(?:, | and )\d+)*))?/g,
  )) {
    check(there.sections, cited, written)
    for (const rule of rules?.match(/\d+/g) ?? []) check(there.rules, `${cited}, rule ${rule}`, written)
  }
  for (const [written, cited = ''] of text.matchAll(new RegExp(`\\b[Rr]ulings? (${numbers})`, 'g'))) {
    for (const one of cited.match(/\d+(?:\.\d+)?/g) ?? []) check(there.rulings, one, written)
  }
  for (const [written] of text.matchAll(/\bP-\d{1,2}\b/g)) check(there.promises, written, written)
  return missing
}
