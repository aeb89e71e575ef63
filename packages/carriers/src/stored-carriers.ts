import type { Ports } from '@gateway/core'
import type { CarrierConflict, CarrierVersion } from '@gateway/core/fleet'
import type { SealedSecret } from '@gateway/core/webhooks'
import { lookUpsFrom, type CarrierConfiguration, type CarrierSource } from './configuration.ts'
import { digestOf } from './meaning.ts'

/** Ports that are needed to store and open versions of the carriers. */
export type CarrierPorts = Pick<Ports, 'carrierVersions' | 'secretBox'>

interface Storing {
  readonly after: number
  readonly storedBy: string
  readonly onPurpose: boolean
}

/** Stores a configuration as the version that follows version `after`. Results as for `CarrierVersions.store`. */
export function storeCarriers(
  { carrierVersions, secretBox }: CarrierPorts,
  configuration: CarrierConfiguration,
  { after, storedBy, onPurpose }: Storing,
): Promise<number | 'outdated' | CarrierConflict> {
  if (configuration.unresolved.length > 0) throw new Error('the stored secrets of the carriers are not known')
  const next = {
    sealed: secretBox.seal(JSON.stringify(configuration.source)),
    digest: digestOf(configuration),
    carriers: configuration.carriers.map(({ id }) => id),
    routes: configuration.routes,
    storedBy,
  }
  return carrierVersions.store(next, after, { onPurpose })
}

/**
 * Returns the configuration with the values of the stored secrets to which it refers. They are those of the latest
 * version. Throws an Error that names a secret that is not stored.
 */
export async function withStoredSecrets(
  configuration: CarrierConfiguration,
  ports: CarrierPorts,
): Promise<CarrierConfiguration> {
  const { unresolved, file, source } = configuration
  if (unresolved.length === 0) return configuration
  const latest = await ports.carrierVersions.latest()
  const known = latest === undefined ? {} : (sourceOf(latest.version, latest.sealed, ports.secretBox).stored ?? {})
  const stored = Object.fromEntries(Object.entries(known).filter(([name]) => unresolved.includes(name)))
  const resolved = { ...source, stored }
  const { readDocument } = await import('./document.ts')
  const read = await readDocument(file ?? 'the carriers', source.document, lookUpsFrom(resolved))
  return { ...read, file, source: resolved, unresolved: [] }
}

/**
 * Returns the configuration of a stored version. Throws an Error that says why this process cannot read the version:
 * its key is missing, or this version of the program does not know a setting.
 */
export async function openCarriers(
  { version, sealed }: CarrierVersion,
  { secretBox }: Pick<CarrierPorts, 'secretBox'>,
): Promise<CarrierConfiguration> {
  const source = sourceOf(version, sealed, secretBox)
  // Import on demand, because loading the schema and Ajv takes 0.1 s.
  const { readDocument } = await import('./document.ts')
  const title = `version ${version} of the stored carriers`
  const read = await readDocument(title, source.document, lookUpsFrom(source))
  return { ...read, file: undefined, source, unresolved: [] }
}

export function sourceOf(version: number, sealed: SealedSecret, secretBox: CarrierPorts['secretBox']): CarrierSource {
  try {
    return JSON.parse(secretBox.open(sealed)) as CarrierSource
  } catch (problem) {
    throw new Error(`version ${version} of the stored carriers cannot be read: ${(problem as Error).message}`, {
      cause: problem,
    })
  }
}

type Fields = Readonly<Record<string, unknown>>

const hidden = '***'

/**
 * Returns a valid carriers document with its passwords and secrets hidden. References to variables, files and stored
 * secrets stay as they are.
 */
export function withoutPasswords(document: unknown): unknown {
  const { carriers, ...rest } = document as Fields & { readonly carriers: readonly Fields[] }
  return { ...rest, carriers: carriers.map(withoutPassword) }
}

function withoutPassword(entry: Fields): Fields {
  const { url, password, secrets } = entry
  return {
    ...entry,
    ...(typeof secrets === 'object' && {
      secrets: Object.fromEntries(Object.entries(secrets as Fields).map(([name, each]) => [name, withoutTexts(each)])),
    }),
    ...(typeof password === 'string' && { password: hidden }),
    ...(typeof url === 'string' && { url: url.replace(/(:\/\/[^/?#]*?:)[^/?#]*@/, `$1${hidden}@`) }),
  }
}

/** Replaces the text of a secret by `***`. A reference to a variable, file or stored secret stays. */
const withoutTexts = (secret: unknown): unknown => {
  if (typeof secret === 'string') return hidden
  return Array.isArray(secret) ? secret.map(withoutTexts) : secret
}
