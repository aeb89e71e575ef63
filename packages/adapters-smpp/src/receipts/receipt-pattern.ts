/** What the named groups of a pattern matched; undefined: that group did not. */
export type PatternMatch = Readonly<Record<string, string | undefined>>

/** Matches a text from its beginning; undefined: it does not fit. */
export type Pattern = (text: string) => PatternMatch | undefined

type Test = (unit: string) => boolean
/** Of the characters before and after a place; empty: the text begins or ends there. */
type PlaceTest = (before: string, after: string) => boolean

type Node =
  | { readonly kind: 'one'; readonly test: Test }
  | { readonly kind: 'place'; readonly test: PlaceTest }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'group'; readonly name: string; readonly node: Node }
  | {
      readonly kind: 'repeat'
      readonly node: Node
      readonly min: number
      readonly max: number
      readonly isLazy: boolean
    }

const lengthMax = 500
const timesMax = 100
const stepsMax = 1000

/**
 * Compiles a regular expression as JavaScript has it with the flags i and s, without lookaround and references back.
 * It is matched by a Pike machine: a text of any form takes time in proportion to its length, where backtracking may
 * take years. Throws an Error that says what is wrong.
 */
export function compilePattern(source: string): Pattern {
  if (source.length > lengthMax) throw new Error(`at most ${lengthMax} characters are expected`)
  try {
    new RegExp(source, 'is')
  } catch (problem) {
    throw new Error((problem as Error).message, { cause: problem })
  }
  const { node, names } = parse(source)
  const program = emit({ kind: 'sequence', nodes: [node] }, names)
  return (text) => {
    const saved = run(program, text)
    if (saved === undefined) return undefined
    return Object.fromEntries(names.map((name, at) => [name, sliceOf(text, saved[2 * at], saved[2 * at + 1])]))
  }
}

/** The names of the groups of a pattern. */
export const groupsOf = (source: string): readonly string[] => parse(source).names

const sliceOf = (text: string, from = -1, to = -1): string | undefined =>
  from < 0 || to < 0 ? undefined : text.slice(from, to)

// Reading the pattern

function parse(source: string): { readonly node: Node; readonly names: readonly string[] } {
  const names: string[] = []
  let at = 0

  const peek = (text: string): boolean => source.startsWith(text, at)
  const eat = (text: string): boolean => {
    const isThere = peek(text)
    if (isThere) at += text.length
    return isThere
  }
  const next = (): string => source[at++] ?? refuse('it ends too early')

  function choice(): Node {
    const nodes = [sequence()]
    while (eat('|')) nodes.push(sequence())
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: 'choice', nodes }
  }

  function sequence(): Node {
    const nodes: Node[] = []
    while (at < source.length && !peek('|') && !peek(')')) nodes.push(repeated())
    return { kind: 'sequence', nodes }
  }

  function repeated(): Node {
    const namesBefore = names.length
    const node = atom()
    const times = quantifier()
    if (times === undefined) return node
    // JavaScript tries it again and again in another way: threads cannot.
    if (mayBeEmpty(node)) return refuse('what a quantifier stands behind can match nothing')
    if (times.max > 1 && names.length > namesBefore) return refuse('a named group cannot be repeated')
    if (times.min > timesMax || (times.max > timesMax && times.max !== Infinity))
      return refuse(`nothing can be repeated more than ${timesMax} times`)
    return { kind: 'repeat', node, ...times, isLazy: eat('?') }
  }

  function quantifier(): { readonly min: number; readonly max: number } | undefined {
    if (eat('*')) return { min: 0, max: Infinity }
    if (eat('+')) return { min: 1, max: Infinity }
    if (eat('?')) return { min: 0, max: 1 }
    const [whole, min, comma, max] = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at)) ?? []
    if (whole === undefined) return undefined
    at += whole.length
    return { min: Number(min), max: comma === '' ? Number(min) : max === '' ? Infinity : Number(max) }
  }

  function atom(): Node {
    if (eat('(')) return group()
    if (eat('[')) return { kind: 'one', test: characterClass() }
    if (eat('^')) return { kind: 'place', test: (before) => before === '' }
    if (eat('$')) return { kind: 'place', test: (_, after) => after === '' }
    if (eat('.')) return { kind: 'one', test: () => true }
    if (eat('\\b')) return { kind: 'place', test: (before, after) => isWord(before) !== isWord(after) }
    if (eat('\\B')) return { kind: 'place', test: (before, after) => isWord(before) === isWord(after) }
    if (eat('\\')) return { kind: 'one', test: escaped() }
    return { kind: 'one', test: same(next()) }
  }

  function group(): Node {
    if (eat('?:')) return closed(choice())
    if (peek('?=') || peek('?!') || peek('?<=') || peek('?<!')) return refuse('lookahead and lookbehind are not used')
    if (!peek('?')) return closed(choice())
    const [whole, name = ''] = /^\?<(\w+)>/.exec(source.slice(at)) ?? []
    if (whole === undefined) return refuse('a group begins (?: or (?<name>')
    if (names.includes(name)) return refuse(`the group ${name} is there twice`)
    at += whole.length
    names.push(name)
    return { kind: 'group', name, node: closed(choice()) }
  }

  function closed(node: Node): Node {
    if (!eat(')')) return refuse('a group does not end')
    return node
  }

  /** Behind a backslash. */
  function escaped(): Test {
    const letter = next()
    const known = ESCAPES[letter]
    if (known !== undefined) return known
    if (/[0-9A-Za-z]/.test(letter)) return refuse(`\\${letter} is not used`)
    return same(letter)
  }

  function characterClass(): Test {
    const isNegated = eat('^')
    const tests: Test[] = []
    while (!eat(']')) {
      const from = next()
      if (from === '\\') {
        tests.push(escaped())
        if (peek('-') && !peek('-]')) return refuse('a range in [] begins and ends with a plain character')
      } else if (peek('-') && !peek('-]')) {
        at++
        const to = next()
        if (to === '\\') return refuse('a range in [] begins and ends with a plain character')
        tests.push(foldedTest((unit) => unit >= from && unit <= to))
      } else tests.push(same(from))
    }
    return (unit) => tests.some((test) => test(unit)) !== isNegated
  }

  const node = choice()
  if (at < source.length) return refuse('a ) has no (')
  return { node, names }
}

function mayBeEmpty(node: Node): boolean {
  if (node.kind === 'sequence') return node.nodes.every(mayBeEmpty)
  if (node.kind === 'choice') return node.nodes.some(mayBeEmpty)
  if (node.kind === 'repeat') return node.min === 0
  return node.kind === 'group' ? mayBeEmpty(node.node) : node.kind === 'place'
}

function refuse(why: string): never {
  throw new Error(why)
}

/** As JavaScript compares without regard to case (ECMA-262, Canonicalize). */
function folded(unit: string): string {
  const upper = unit.toUpperCase()
  return upper.length !== 1 || (unit >= '\x80' && upper < '\x80') ? unit : upper
}

const same = (unit: string): Test => {
  const wanted = folded(unit)
  return (other) => folded(other) === wanted
}

const foldedTest =
  (test: Test): Test =>
  (unit) =>
    [unit, unit.toLowerCase(), unit.toUpperCase()].some((form) => folded(form) === folded(unit) && test(form))

const isDigit: Test = (unit) => unit >= '0' && unit <= '9'
const isWord: Test = (unit) => /^\w$/.test(unit)
const isSpace: Test = (unit) => /^\s$/.test(unit)
const not =
  (test: Test): Test =>
  (unit) =>
    !test(unit)

const ESCAPES: Readonly<Record<string, Test>> = {
  ...{ d: isDigit, w: isWord, s: isSpace, D: not(isDigit), W: not(isWord), S: not(isSpace) },
  ...{ t: same('\t'), n: same('\n'), r: same('\r') },
}

// The program

type Step =
  | { readonly do: 'take'; readonly test: Test }
  | { readonly do: 'stand'; readonly test: PlaceTest }
  | { do: 'fork'; first: number; second: number }
  | { do: 'jump'; to: number }
  | { readonly do: 'save'; readonly slot: number }
  | { readonly do: 'match' }

function emit(whole: Node, names: readonly string[]): readonly Step[] {
  const program: Step[] = []
  const add = <S extends Step>(step: S): S => {
    if (program.length >= stepsMax) refuse('it is too long: fewer or smaller counts in {} are expected')
    program.push(step)
    return step
  }

  function of(node: Node): void {
    if (node.kind === 'one') add({ do: 'take', test: node.test })
    else if (node.kind === 'place') add({ do: 'stand', test: node.test })
    else if (node.kind === 'sequence') node.nodes.forEach(of)
    else if (node.kind === 'choice') choices(node.nodes)
    else if (node.kind === 'repeat') repeat(node)
    else {
      const slot = 2 * names.indexOf(node.name)
      add({ do: 'save', slot })
      of(node.node)
      add({ do: 'save', slot: slot + 1 })
    }
  }

  function choices([first, ...others]: readonly Node[]): void {
    if (first === undefined) return
    if (others.length === 0) {
      of(first)
      return
    }
    const fork = add({ do: 'fork', first: program.length + 1, second: 0 })
    of(first)
    const jump = add({ do: 'jump', to: 0 })
    fork.second = program.length
    choices(others)
    jump.to = program.length
  }

  function repeat({ node, min, max, isLazy }: Extract<Node, { kind: 'repeat' }>): void {
    for (let time = 0; time < min; time++) of(node)
    const forks: Extract<Step, { do: 'fork' }>[] = []
    const enter = (): void => void forks.push(add({ do: 'fork', first: program.length + 1, second: 0 }))
    if (max === Infinity) {
      const start = program.length
      enter()
      of(node)
      add({ do: 'jump', to: start })
    } else {
      for (let time = min; time < max; time++) {
        enter()
        of(node)
      }
    }
    for (const fork of forks) {
      fork.second = program.length
      if (isLazy) [fork.first, fork.second] = [fork.second, fork.first]
    }
  }

  of(whole)
  add({ do: 'match' })
  return program
}

interface Thread {
  readonly at: number
  /** Where each group began and ended. */
  readonly saved: readonly number[]
}

/** The threads of one place in the text stand in the order in which backtracking would try them. */
function run(program: readonly Step[], text: string): readonly number[] | undefined {
  const seen = new Int32Array(program.length).fill(-1)
  let best: readonly number[] | undefined

  function follow(threads: Thread[], at: number, saved: readonly number[], place: number): void {
    if (seen[at] === place) return
    seen[at] = place
    const step = program[at] as Step
    if (step.do === 'jump') follow(threads, step.to, saved, place)
    else if (step.do === 'fork') {
      follow(threads, step.first, saved, place)
      follow(threads, step.second, saved, place)
    } else if (step.do === 'save') {
      const next = [...saved]
      next[step.slot] = place
      follow(threads, at + 1, next, place)
    } else if (step.do === 'stand') {
      if (step.test(text[place - 1] ?? '', text[place] ?? '')) follow(threads, at + 1, saved, place)
    } else threads.push({ at, saved })
  }

  let threads: Thread[] = []
  follow(threads, 0, [], 0)
  for (let place = 0; threads.length > 0; place++) {
    const next: Thread[] = []
    const unit = text[place]
    for (const { at, saved } of threads) {
      const step = program[at]
      if (step?.do === 'match') {
        best = saved
        break
      }
      if (step?.do === 'take' && unit !== undefined && step.test(unit)) follow(next, at + 1, saved, place + 1)
    }
    threads = next
  }
  return best
}
