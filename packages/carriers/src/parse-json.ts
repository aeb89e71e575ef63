/** Reads JSON; what is wrong is told by line and column, without any of the text, which may hold a password. */
export function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  const json = text.replace(/^\uFEFF/, '')
  try {
    return { value: JSON.parse(json) as unknown }
  } catch (problem) {
    const at = positionOf((problem as Error).message) ?? firstOdd(json)
    const before = json.slice(0, at).split('\n')
    return { problem: `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: this is no JSON` }
  }
}

/** Node tells the position of some errors and a piece of the text of others. */
function positionOf(message: string): number | undefined {
  const [, digits] = / at position (\d+)/.exec(message) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const token = /\s+|"(?:[^"\\\p{Cc}]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/uy

/** Where the first thing stands that is no token of JSON; the end if there is none. */
function firstOdd(json: string): number {
  token.lastIndex = 0
  let end = 0
  while (end < json.length && token.test(json)) end = token.lastIndex
  return end
}
