import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Route } from '@gateway/core/routes'
import type { CarrierSpecification } from './carrier-specification.ts'

/** What a configuration was read from: all that is needed to read it again elsewhere, secrets included. */
export interface CarrierSource extends Found {
  /** As JSON, of the published schema. */
  readonly document: unknown
}

export interface CarrierConfiguration {
  readonly carriers: readonly CarrierSpecification[]
  /** In the order in which they are tried; none: any carrier takes any message. */
  readonly routes: readonly Route[]
  /** The file that it comes from, if it comes from one. */
  readonly file: string | undefined
  readonly source: CarrierSource
}

/** Environment variables, by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Where a document of carriers finds what it does not say itself. */
export interface LookUps {
  /** Undefined: it is not set, or empty. */
  variable(name: string): string | undefined
  /** The text of a file; throws if it cannot be read. */
  file(path: string): string
}

/** What was found, by the names in the document. */
export interface Found {
  readonly environment: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
}

/** Looks into these variables and, for relative paths, into this folder, and keeps what it has found. */
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

/** Finds what was found before, and nothing else. */
export const lookUpsFrom = ({ environment, files }: Found): LookUps => ({
  variable: (name) => (Object.hasOwn(environment, name) ? environment[name] : undefined),
  file(path) {
    const text = Object.hasOwn(files, path) ? files[path] : undefined
    if (text === undefined) throw new Error(`${path} is not stored`)
    return text
  },
})
