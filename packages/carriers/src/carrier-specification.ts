import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { httpCarrier, tryMessage, type HttpSettings } from '@gateway/adapters-http'
import { simulatedCarrier, simulatorSettingsFromUrl } from '@gateway/adapters-simulator'
import {
  smppCarrier,
  smppSettingsFromUrl,
  pduFields,
  trySubmission,
  type Sharing,
  type SmppSettings,
  type TrialResult,
} from '@gateway/adapters-smpp'
import type { Reporting } from '@gateway/carrier-kit'
import type { Carrier, CarrierId, Submission } from '@gateway/core/dispatch'
import type { CarrierBinds } from '@gateway/core/fleet'
import type { Clock } from '@gateway/core/time'

/** A carrier as it is configured, secrets included; nothing is connected yet. */
export type CarrierSpecification =
  | { readonly id: CarrierId; readonly kind: 'smpp'; readonly settings: SmppSettings }
  | { readonly id: CarrierId; readonly kind: 'http'; readonly settings: HttpSettings }
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
  if (kind === 'http') return httpCarrier(id, settings, place, place.sharing)
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

export interface CarrierCertificates {
  /** The carrier and the setting. */
  readonly of: string
  readonly are: 'chain' | 'authorities'
  readonly pem: string
}

/** The certificates of carriers in PEM, as they were read. */
export const certificatesOf = (carriers: readonly CarrierSpecification[]): readonly CarrierCertificates[] =>
  carriers.flatMap(({ id, kind, settings }) =>
    kind !== 'smpp' || settings.tls === undefined
      ? []
      : [
          ...given(`carrier ${id} ca`, 'authorities', settings.tls.ca),
          ...given(`carrier ${id} cert`, 'chain', settings.tls.cert),
        ],
  )

const given = (of: string, are: CarrierCertificates['are'], pem: string | undefined): readonly CarrierCertificates[] =>
  pem === undefined ? [] : [{ of, are, pem }]

export interface SeenPdu {
  readonly at: number
  readonly direction: 'sent' | 'received'
  readonly fields: Readonly<Record<string, unknown>>
}

export interface CarrierTrial {
  readonly carrier: Extract<CarrierSpecification, { readonly kind: 'smpp' | 'http' }>
  readonly message: Omit<Submission, 'id'>
  readonly receiptSeconds: number
  readonly interruption: AbortSignal
  readonly saw: (pdu: SeenPdu) => void
}

/**
 * Submits one message over a connection of its own and, over SMPP, waits for its receipts; those over HTTP arrive as
 * callbacks. Where the binds of a carrier are shared it leases one first; `no-bind`: all are in use. It charges nobody,
 * and nothing of it is stored.
 */
export async function tryCarrier(trial: CarrierTrial, binds?: CarrierBinds): Promise<TrialResult | 'no-bind'> {
  const { carrier, message, saw } = trial
  if (carrier.kind === 'smpp') return tryOverSmpp(carrier.id, carrier.settings, trial, binds)
  const part = await tryMessage(carrier.id, carrier.settings, message, ({ direction, fields }) =>
    saw({ at: Date.now(), direction, fields }),
  )
  return { problem: undefined, parts: [{ ...part, receipt: undefined }] }
}

async function tryOverSmpp(
  id: CarrierId,
  settings: SmppSettings,
  { message, receiptSeconds, interruption, saw }: CarrierTrial,
  binds: CarrierBinds | undefined,
): Promise<TrialResult | 'no-bind'> {
  const run = (): Promise<TrialResult> =>
    trySubmission(settings, message, {
      ...{ receiptSeconds, interruption },
      saw: (direction, pdu) => saw({ at: Date.now(), direction, fields: pduFields(pdu) }),
    })
  if (settings.bindsMax === undefined || binds === undefined) return run()
  const [holder, max] = [randomUUID(), settings.bindsMax]
  // Long enough for all that may take time: seven parts, and what may be waited for.
  const seconds = settings.connectSeconds + 7 * settings.responseSeconds + receiptSeconds + 30
  const { numbers } = await binds.lease(id, holder, { count: 1, max, seconds })
  if (numbers.length === 0) return 'no-bind'
  try {
    return await run()
  } finally {
    await binds.release(id, holder, numbers)
  }
}
