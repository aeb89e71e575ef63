import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Route } from '@gateway/core/routes'
import type { CarrierSpecification } from './carrier-specification.ts'

/**
 * Everything that was read to obtain a configuration, including secrets. Another process can read the same
 * configuration from this data.
 */
export interface CarrierSource extends Found {
  /** Parsed JSON document that matches the published schema. */
  readonly document: unknown
}

export interface CarrierConfiguration {
  readonly carriers: readonly CarrierSpecification[]
  /** Routes in the order in which they are tried. Without routes, every carrier accepts every message. */
  readonly routes: readonly Route[]
  /** Path of the configuration file; undefined if the configuration does not come from a file. */
  readonly file: string | undefined
  readonly source: CarrierSource
  /** Names of stored secrets to which the document refers and whose values are not known yet. */
  readonly unresolved: readonly string[]
}

/** Values of environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Access to the environment variables, files and stored secrets to which a carriers document refers. */
export interface LookUps {
  /** Returns the value of a variable; undefined if the variable is not set or empty. */
  variable(name: string): string | undefined
  /** Returns the text of a file. Throws if the file cannot be read. */
  file(path: string): string
  /** Returns the value of a secret that is stored with the carriers; undefined if none has this name. */
  stored(name: string): string | undefined
}

/** Values of the variables, files and stored secrets that were read, by their names in the document. */
export interface Found {
  readonly environment: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
  /** Secrets that exist only here, because an operator typed them into the portal. Undefined in older versions. */
  readonly stored?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns the text that stands for a stored secret while a document is read without the database. It is as long as the
 * longest minimum of a secret.
 */
const placeholderOf = (name: string): string => `stored secret ${name}`.padEnd(40, '.')

/**
 * Reads variables from `variables`, and files relative to `folder`. Records everything that was read in `found`, and
 * the names of stored secrets in `unresolved`, because their values are in the database.
 */
export function lookUpsIn(
  folder: string,
  variables: Variables,
): LookUps & { readonly found: Found; readonly unresolved: ReadonlySet<string> } {
  const environment: Record<string, string> = {}
  const files: Record<string, string> = {}
  const unresolved = new Set<string>()
  return {
    found: { environment, files },
    unresolved,
    stored(name) {
      unresolved.add(name)
      return placeholderOf(name)
    },
    variable(name) {
      const value = variables[name]
      if (value === undefined || value === '') return undefined
      environment[name] = value
      return value
    },
    file(path) {
      const text = readFileSync(resolve(folder, path), 'utf8')
      files[path] = text
      return text
    },
  }
}

/**
 * Returns the values that were recorded earlier, and for variables without one the value in `variables`. Records what
 * is read in `found`, so that values to which a changed document no longer refers are dropped.
 */
export function lookUpsRecording(known: Found, variables: Variables): LookUps & { readonly found: Found } {
  const environment: Record<string, string> = {}
  const files: Record<string, string> = {}
  const stored: Record<string, string> = {}
  const lookUps = lookUpsFrom(known)
  const recorded = <Value extends string | undefined>(into: Record<string, string>, name: string, value: Value) => {
    if (value !== undefined) into[name] = value
    return value
  }
  return {
    found: { environment, files, stored },
    variable(name) {
      const own = variables[name] === '' ? undefined : variables[name]
      return recorded(environment, name, lookUps.variable(name) ?? own)
    },
    file: (path) => recorded(files, path, lookUps.file(path)),
    stored: (name) => recorded(stored, name, lookUps.stored(name)),
  }
}

/** Returns only values that were recorded earlier; reads no other variable or file. */
export const lookUpsFrom = ({ environment, files, stored = {} }: Found): LookUps => ({
  stored: (name) => (Object.hasOwn(stored, name) ? stored[name] : undefined),
  variable: (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
  file(path) {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    if (text === undefined) throw new Error(`${path} is not stored`)
    return text
  },
})
