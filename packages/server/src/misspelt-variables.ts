import { closestMatch } from 'leven'

/** A variable that nobody reads, and the one that it may be meant for. */
export interface MisspeltVariable {
  readonly name: string
  readonly likely: string
}

/**
 * The variables of an environment that look like `published` ones and are none: one letter is another (two in names of seven or more), or they are
 * not in capital letters. Blank ones count as unset.
 */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  published: readonly string[],
): readonly MisspeltVariable[] {
  const names = Object.keys(env).filter((name) => !published.includes(name) && (env[name] ?? '').trim() !== '')
  return names.toSorted().flatMap((name) => {
    const likely = closestMatch(name.toUpperCase(), published, { maxDistance: lettersOf(name) })
    return likely === undefined ? [] : [{ name, likely }]
  })
}

/** Short names of others, and libpq's own, are near each other. */
const lettersOf = (name: string): number => (name.length < 7 || name.startsWith('PG') ? 1 : 2)
