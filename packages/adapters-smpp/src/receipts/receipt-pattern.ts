import { RE2JS } from 're2js'

/** Texts that the named groups of a pattern matched; undefined for a group without a match. */
export type PatternMatch = Readonly<Record<string, string | undefined>>

export interface Pattern {
  /** Names of the groups of the regular expression. */
  readonly groups: readonly string[]
  /** Matches a text from its beginning. Returns undefined if it does not fit. */
  match(text: string): PatternMatch | undefined
}

const lengthMax = 500

/**
 * Compiles a regular expression in RE2 syntax. It ignores letter case, and `.` matches any character. RE2 takes time
 * proportional to the length of the text, whereas backtracking could take years. Throws an Error that states the
 * problem.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > lengthMax) throw new Error(`at most ${lengthMax} characters are expected`)
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source), RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL)
  const groups = Object.keys(pattern.namedGroups())
  return {
    groups,
    match(text) {
      const matcher = pattern.matcher(text)
      if (!matcher.lookingAt()) return undefined
      return Object.fromEntries(groups.map((name) => [name, matcher.group(name) ?? undefined]))
    },
  }
}
