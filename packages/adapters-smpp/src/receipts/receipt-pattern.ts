import { RE2JS } from 're2js'

/** What the named groups of a pattern matched; undefined: that group did not. */
export type PatternMatch = Readonly<Record<string, string | undefined>>

export interface Pattern {
  /** The names of its groups. */
  readonly groups: readonly string[]
  /** Matches a text from its beginning; undefined: it does not fit. */
  match(text: string): PatternMatch | undefined
}

const lengthMax = 500

/**
 * Compiles a regular expression as RE2 has it, in any letter case, where `.` is any character. A text of any form takes
 * time in proportion to its length, where backtracking may take years. Throws an Error that says what is wrong.
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
