type Sides = Readonly<Record<string, (warmUp: boolean) => Promise<unknown>>>

/** What each side answered, a round an element. */
export type Rounds<S extends Sides> = { readonly [Side in keyof S]: readonly Awaited<ReturnType<S[Side]>>[] }

/**
 * Runs all sides one after the other, again and again, every other round in reverse: what the machine does meanwhile,
 * and what grows from round to round, meets all of them alike. The first round, which warms up, is not counted.
 */
export async function inRounds<S extends Sides>(count: number, sides: S): Promise<Rounds<S>> {
  const names = Object.keys(sides) as (keyof S)[]
  const results = Object.fromEntries(names.map((name) => [name, [] as unknown[]])) as Record<keyof S, unknown[]>
  for (let round = 0; round <= count; round++) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const result = await sides[name]?.(round === 0)
      if (round > 0) results[name].push(result)
    }
  }
  return results as Rounds<S>
}
