type Sides = Readonly<Record<string, (warmUp: boolean) => Promise<unknown>>>

/** Results of each side, one element for each round. */
export type Rounds<S extends Sides> = { readonly [Side in keyof S]: readonly Awaited<ReturnType<S[Side]>>[] }

/**
 * Runs all sides in turn for several rounds, every other round in reverse order, so that other load on the machine and
 * growth from round to round affect all sides alike. The first round is a warm-up and is not counted.
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
