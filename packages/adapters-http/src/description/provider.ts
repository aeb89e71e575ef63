import type { HttpDescription } from './schema.ts'
import { compilePattern, type Pattern } from './pattern.ts'
import { isChoice, placeholdersIn, visitTexts } from './template.ts'

/** Description of a provider with its compiled patterns. */
export interface Provider {
  readonly description: HttpDescription
  readonly patterns: ReadonlyMap<string, Pattern>
  /** Names of the secrets that sending needs. */
  readonly sendSecrets: ReadonlySet<string>
  /** Names of the secrets that only callbacks need. */
  readonly callbackSecrets: ReadonlySet<string>
}

/** Prepares a description that matches the schema. Calls `failed` for each pattern that cannot be used. */
export function compileProvider(
  description: HttpDescription,
  failed: (problem: string) => void = (problem) => {
    throw new Error(problem)
  },
): Provider {
  const { send, callbacks } = secretsOf(description)
  return { description, patterns: compilePatterns(description, failed), sendSecrets: send, callbackSecrets: callbacks }
}

export const isSecret = (name: string): boolean => name.startsWith('secret.')

function secretsOf({ send, callbacks }: HttpDescription) {
  const names = (place: unknown): ReadonlySet<string> => {
    const found = new Set<string>()
    visitTexts(place, '', (text) => {
      for (const name of placeholdersIn(text)) if (isSecret(name)) found.add(name.slice('secret.'.length))
    })
    return found
  }
  const inSend = names(send)
  const inCallbacks = [...names(callbacks?.signature.key), ...(callbacks === undefined ? [] : ['path'])]
  return { send: inSend, callbacks: new Set(inCallbacks.filter((name) => !inSend.has(name))) }
}

function compilePatterns(description: HttpDescription, failed: (problem: string) => void): Map<string, Pattern> {
  const patterns = new Map<string, Pattern>()
  const compile = (source: string, at: string): void => {
    const pattern = compiled(source)
    if (typeof pattern === 'string') failed(`${at}: ${pattern}`)
    else if (at.endsWith('/price/pattern') && !pattern.groups.includes('amount'))
      failed(`${at}: the group "amount" is missing`)
    else patterns.set(source, pattern)
  }
  visitPatterns({ answer: description.answer, callbacks: description.callbacks }, '', compile)
  return patterns
}

/** Returns the pattern, or why it cannot be used. */
function compiled(source: string): Pattern | string {
  try {
    return compilePattern(source)
  } catch (problem) {
    return (problem as Error).message
  }
}

/** Calls `found` with each field "pattern" of a description. */
function visitPatterns(value: unknown, at: string, found: (source: string, at: string) => void): void {
  if (typeof value !== 'object' || value === null || isChoice(value)) return
  for (const [name, each] of Object.entries(value)) {
    if (name === 'pattern' && typeof each === 'string') found(each, `${at}/pattern`)
    else visitPatterns(each, `${at}/${name}`, found)
  }
}
