import { isDeepStrictEqual } from 'node:util'
import { simulatedCarrier, simulatorSettingsFromUrl } from '@gateway/adapters-simulator'
import {
  smppCarrier,
  smppSettingsFromUrl,
  type Reporting,
  type Sharing,
  type SmppSettings,
} from '@gateway/adapters-smpp'
import type { Carrier, CarrierId, Clock } from '@gateway/core'

/** A carrier as it is configured, secrets included; nothing is connected yet. */
export type CarrierSpecification =
  | { readonly id: CarrierId; readonly kind: 'smpp'; readonly settings: SmppSettings }
  | {
      readonly id: CarrierId
      readonly kind: 'simulator'
      readonly settings: ReturnType<typeof simulatorSettingsFromUrl>
    }

export interface Place extends Reporting {
  /** Where a carrier may keep files of its own. */
  readonly dataDir: string
  /** For carriers whose binds processes share. */
  readonly sharing: Sharing | undefined
  /** The time that it tells; that of this machine if not given. */
  readonly clock?: Clock
}

/** Whether both would do the same, so that the one need not be replaced by the other. */
export const sameCarrier = (one: CarrierSpecification, other: CarrierSpecification): boolean =>
  isDeepStrictEqual(one, other)

/** Makes it; it connects once it is listened to. Throws if it cannot use its folder. */
export function makeCarrier({ id, kind, settings }: CarrierSpecification, place: Place): Carrier {
  if (kind === 'smpp') return smppCarrier(id, settings, place, place.sharing)
  const { dataDir, report, clock } = place
  return simulatedCarrier({ ...settings, folder: `${dataDir}/${id}`, id, report, ...(clock && { clock }) })
}

type ReadFile = (path: string) => string

const READ: Readonly<Record<string, (id: CarrierId, url: string, readFile: ReadFile) => CarrierSpecification>> = {
  smpp: (id, url, readFile) => ({ id, kind: 'smpp', settings: smppSettingsFromUrl(url, readFile) }),
  smpps: (id, url, readFile) => ({ id, kind: 'smpp', settings: smppSettingsFromUrl(url, readFile) }),
  simulator: (id, url) => ({ id, kind: 'simulator', settings: simulatorSettingsFromUrl(url) }),
}

const schemeOf = (url: string): string => url.slice(0, Math.max(0, url.indexOf(':')))

/** Throws an Error that says what is wrong, without a password. `readFile` reads the files that the URL names. */
export function specificationFromUrl(id: CarrierId, url: string, readFile: ReadFile): CarrierSpecification {
  const scheme = schemeOf(url)
  const read = Object.hasOwn(READ, scheme) ? READ[scheme] : undefined
  if (read === undefined) throw new Error(`the URL is of no known kind; there is ${kinds}`)
  return read(id, url, readFile)
}

export const kinds = Object.keys(READ)
  .map((each) => `${each}:`)
  .join(', ')

export const isKind = (scheme: string): boolean => Object.hasOwn(READ, scheme)
