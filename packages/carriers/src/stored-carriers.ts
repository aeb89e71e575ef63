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
export const storeCarriers = (
  { carrierVersions, secretBox }: CarrierPorts,
  configuration: CarrierConfiguration,
  { after, storedBy, onPurpose }: Storing,
): Promise<number | 'outdated' | CarrierConflict> =>
  carrierVersions.store(
    {
      sealed: secretBox.seal(JSON.stringify(configuration.source)),
      digest: digestOf(configuration),
      carriers: configuration.carriers.map(({ id }) => id),
      routes: configuration.routes,
      storedBy,
    },
    after,
    { onPurpose },
  )

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
  return { ...(await readDocument(title, source.document, lookUpsFrom(source))), file: undefined, source }
}

function sourceOf(version: number, sealed: SealedSecret, secretBox: CarrierPorts['secretBox']): CarrierSource {
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
 * Returns a valid carriers document with its passwords and secrets hidden. References to variables and files stay as
 * they are.
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

/** Replaces the text of a secret by `***`. A reference to a variable or file stays. */
const withoutTexts = (secret: unknown): unknown => {
  if (typeof secret === 'string') return hidden
  return Array.isArray(secret) ? secret.map(withoutTexts) : secret
}
