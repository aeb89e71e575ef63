import type { Ports } from '@gateway/core'
import type { CarrierConflict, CarrierVersion } from '@gateway/core/fleet'
import type { SealedSecret } from '@gateway/core/webhooks'
import { lookUpsFrom, type CarrierConfiguration, type CarrierSource } from './configuration.ts'
import { digestOf } from './meaning.ts'

/** What stores and opens versions. */
export type CarrierPorts = Pick<Ports, 'carrierVersions' | 'secretBox'>

interface Storing {
  readonly after: number
  readonly storedBy: string
  readonly onPurpose: boolean
}

/** Stores a configuration as the version behind `after`; as `CarrierVersions.store`. */
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
 * What was stored. Throws an Error that says why it cannot be read here: with which key, or what is not known to this
 * version of the program.
 */
export async function openCarriers(
  { version, sealed }: CarrierVersion,
  { secretBox }: Pick<CarrierPorts, 'secretBox'>,
): Promise<CarrierConfiguration> {
  const source = sourceOf(version, sealed, secretBox)
  // It loads the schema and Ajv, which takes 0.1 s.
  const { readDocument } = await import('./document.ts')
  const what = `version ${version} of the stored carriers`
  return { ...(await readDocument(what, source.document, lookUpsFrom(source))), file: undefined, source }
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

/** A document of carriers that is right, without the passwords in it. What stands elsewhere is named as it is there. */
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

/** Hides the secrets of a carrier. The name of a variable or a file stays. */
const withoutTexts = (secret: unknown): unknown => {
  if (typeof secret === 'string') return hidden
  return Array.isArray(secret) ? secret.map(withoutTexts) : secret
}
