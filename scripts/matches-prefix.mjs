/**
 * Returns true if a text that `pattern` matches can begin with `prefix`. Reads what the patterns of libphonenumber
 * consist of: digits, `\\d`, classes such as `[2-57]`, groups `(?:…)`, alternatives, `?`, `{n}` and `{n,m}`. Throws an
 * Error at anything else.
 */
export function matchesPrefix(pattern, prefix) {
  const { node, rest } = readAlternatives(pattern)
  if (rest !== '') throw new Error(`cannot read ${rest} in the pattern ${pattern}`)
  return node(prefix, new Set([0])).has(prefix.length)
}

/**
 * Parses alternatives, and returns their node and the rest of the text. A node is a function that maps positions in the
 * prefix to the positions at which its match ends. A match that goes beyond the end of the prefix ends at the end of
 * the prefix.
 */
function readAlternatives(text) {
  const nodes = []
  let rest = `|${text}`
  while (rest.startsWith('|')) {
    const sequence = readSequence(rest.slice(1))
    nodes.push(sequence.node)
    rest = sequence.rest
  }
  const node = (prefix, from) => new Set(nodes.flatMap((each) => [...each(prefix, from)]))
  return { node, rest }
}

function readSequence(text) {
  const nodes = []
  let rest = text
  while (rest !== '' && !rest.startsWith('|') && !rest.startsWith(')')) {
    const atom = readAtom(rest)
    const repeated = readRepetition(atom)
    nodes.push(repeated.node)
    rest = repeated.rest
  }
  return { node: (prefix, from) => nodes.reduce((positions, each) => each(prefix, positions), from), rest }
}

function readAtom(text) {
  if (text.startsWith('(?:')) {
    const { node, rest } = readAlternatives(text.slice(3))
    if (!rest.startsWith(')')) throw new Error(`a group does not end in ${text}`)
    return { node, rest: rest.slice(1) }
  }
  const single = /^(?:\d|\\d|\[[\d-]+\])/.exec(text)?.[0]
  if (single === undefined) throw new Error(`cannot read ${text} in a pattern`)
  const digit = new RegExp(`^${single}$`)
  const node = (prefix, from) =>
    new Set([...from].flatMap((at) => (at === prefix.length ? [at] : digit.test(prefix[at]) ? [at + 1] : [])))
  return { node, rest: text.slice(single.length) }
}

function readRepetition({ node, rest }) {
  const [suffix = '', minimum = '1', maximum = minimum] = /^\{(\d+)(?:,(\d+))?\}/.exec(rest) ?? []
  if (suffix === '' && rest.startsWith('?')) return { node: repeated(node, 0, 1), rest: rest.slice(1) }
  return { node: repeated(node, Number(minimum), Number(maximum)), rest: rest.slice(suffix.length) }
}

const repeated = (node, minimum, maximum) => (prefix, from) => {
  let positions = from
  const reached = new Set(minimum === 0 ? from : [])
  for (let count = 1; count <= maximum; count++) {
    positions = node(prefix, positions)
    if (count >= minimum) for (const position of positions) reached.add(position)
  }
  return reached
}
