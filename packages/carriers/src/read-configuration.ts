import { carrierId } from '@gateway/core/dispatch'
import { isKind, kinds, specificationFromUrl, type CarrierSpecification } from './carrier-specification.ts'
import { lookUpsIn, type CarrierConfiguration, type LookUps, type Variables } from './configuration.ts'

/**
 * Reads the value of `CARRIERS`: either `file:` with the path of a JSON document, or carriers separated by `,`. A
 * carrier is `simulator:`, `smpp://…` or `smpps://…`; `name=simulator:?delayMs=0` gives it a name. Secrets of a file
 * come from `variables`. Throws an Error that says what is wrong and where, without a password.
 */
export async function readConfiguration(text: string, variables: Variables): Promise<CarrierConfiguration> {
  const [, path] = /^\s*file:(.*)$/s.exec(text) ?? []
  if (path === undefined) return listed(text)
  if (path.trim() === '') throw new Error('CARRIERS names no file; expected a path, as in file:carriers.json')
  return readFileConfiguration(path.trim(), variables)
}

/** Reads the carriers document at the path of a `file:` entry. */
export async function readFileConfiguration(path: string, variables: Variables): Promise<CarrierConfiguration> {
  // Import on demand: loading the schema and Ajv takes 0.1 s, and most processes do not need them.
  const { readCarriersFile } = await import('./document.ts')
  return readCarriersFile(path, variables)
}

/** Reads a list of carriers. Equivalent to a document with one URL entry for each carrier. */
function listed(text: string): CarrierConfiguration {
  const lookUps = lookUpsIn('.', {})
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => readEntry(entry, lookUps))
  const carriers = entries.map(({ carrier }) => carrier)
  const twice = carriers.find(({ id }, at) => carriers.findIndex((other) => other.id === id) < at)
  if (twice !== undefined) throw new Error(`CARRIERS names two carriers ${JSON.stringify(twice.id)}.`)
  if (carriers.length === 0) throw new Error('CARRIERS names no carrier; the default is simulator:')
  const document = { carriers: entries.map(({ carrier, url }) => ({ name: carrier.id, url })) }
  return { carriers, routes: [], file: undefined, source: { document, ...lookUps.found }, unresolved: [] }
}

function readEntry(entry: string, lookUps: LookUps): { carrier: CarrierSpecification; url: string } {
  const [, name, url = '', scheme = ''] = /^(?:([^=:?]*)=)?(([^:]*):.*)$/s.exec(entry) ?? []
  const label = name ?? scheme
  if (!isKind(scheme)) {
    throw new Error(`CARRIERS: the entry for ${JSON.stringify(label)} is of an unknown kind; expected one of ${kinds}.`)
  }
  const id = carrierId(label)
  if (id === undefined) {
    throw new Error(
      `CARRIERS: ${JSON.stringify(label)} is not a carrier name; expected 1 to 32 characters of a-z, 0-9 and -.`,
    )
  }
  return { carrier: specificationFromUrl(id, url, (path) => lookUps.file(path)), url }
}
