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
}

/** Values of environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Access to the environment variables and files to which a carriers document refers. */
export interface LookUps {
  /** Returns the value of a variable; undefined if the variable is not set or empty. */
  variable(name: string): string | undefined
  /** Returns the text of a file. Throws if the file cannot be read. */
  file(path: string): string
}

/** Values of the variables and texts of the files that were read, by their names in the document. */
export interface Found {
  readonly environment: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
}

/** Reads variables from `variables`, and files relative to `folder`. Records everything that was read in `found`. */
export function lookUpsIn(folder: string, variables: Variables): LookUps & { readonly found: Found } {
  const environment: Record<string, string> = {}
  const files: Record<string, string> = {}
  return {
    found: { environment, files },
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

/** Returns only values that were recorded earlier; reads no other variable or file. */
export const lookUpsFrom = ({ environment, files }: Found): LookUps => ({
  variable: (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
  file(path) {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    if (text === undefined) throw new Error(`${path} is not stored`)
    return text
  },
})
