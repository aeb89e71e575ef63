import { RE2JS } from 're2js'

/** Compiled pattern. RE2 takes time proportional to the text, whereas backtracking could take years. */
export interface Pattern {
  /** Names of the groups of the regular expression. */
  readonly groups: readonly string[]
  isIn(text: string): boolean
  /** Returns the text of the first group, or of the group with this name. Undefined without a match. */
  find(text: string, group?: string): string | undefined
}

/** Maximum number of characters of a text that a pattern is applied to. */
const charactersMax = 16_384

/** Compiles a regular expression in RE2 syntax. Throws an Error that states the problem. */
export function compilePattern(source: string): Pattern {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source))
  const matcherOf = (text: string) => pattern.matcher(text.slice(0, charactersMax))
  return {
    groups: Object.keys(pattern.namedGroups()),
    isIn: (text) => matcherOf(text).find(),
    find(text, group) {
      const matcher = matcherOf(text)
      if (!matcher.find()) return undefined
      return matcher.group(group ?? Math.min(1, pattern.groupCount())) ?? undefined
    },
  }
}
