import { carrierId } from '@gateway/core'
import { isKind, kinds, specificationFromUrl, type CarrierSpecification } from './carrier-specification.ts'
import type { CarrierConfiguration, Variables } from './configuration.ts'

/**
 * What `CARRIERS` says: `file:` and the path of a JSON document, or carriers separated by `,`: `simulator:`, `smpp://…` or `smpps://…`, or
 * `name=simulator:?delayMs=0` for a name of one's own. Secrets of a file come from `variables`. Throws an Error that says what is
 * wrong, and where, without a password.
 */
export async function readConfiguration(text: string, variables: Variables): Promise<CarrierConfiguration> {
  const [, path] = /^\s*file:(.*)$/s.exec(text) ?? []
  if (path === undefined) return { carriers: carriersFromList(text), routes: [], file: undefined }
  if (path.trim() === '') throw new Error('CARRIERS names no file; it reads file:carriers.json')
  return readFileConfiguration(path.trim(), variables)
}

/** What `file:` and this path say. */
export async function readFileConfiguration(path: string, variables: Variables): Promise<CarrierConfiguration> {
  // Its schema and Ajv take 0.1 s to load, which most processes do without.
  const { readCarriersFile } = await import('./carriers-file.ts')
  return readCarriersFile(path, variables)
}

function carriersFromList(text: string): readonly CarrierSpecification[] {
  const named = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(specificationOf)
  const twice = named.find(({ id }, at) => named.findIndex((other) => other.id === id) < at)
  if (twice !== undefined) throw new Error(`CARRIERS names two carriers ${JSON.stringify(twice.id)}.`)
  if (named.length === 0) throw new Error('CARRIERS names no carrier; the default is simulator:')
  return named
}

function specificationOf(entry: string): CarrierSpecification {
  const [, name, url = '', scheme = ''] = /^(?:([^=:?]*)=)?(([^:]*):.*)$/s.exec(entry) ?? []
  const given = name ?? scheme
  if (!isKind(scheme)) {
    throw new Error(`CARRIERS: the entry for ${JSON.stringify(given)} is of no known kind; there is ${kinds}.`)
  }
  const id = carrierId(given)
  if (id === undefined) {
    throw new Error(`CARRIERS: ${JSON.stringify(given)} is no name for a carrier: 1 to 32 of a-z, 0-9 and -.`)
  }
  return specificationFromUrl(id, url, '.')
}
