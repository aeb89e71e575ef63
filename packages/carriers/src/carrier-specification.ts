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
import type { CarrierBinds, Reporting } from '@gateway/carrier-kit'
import type { Carrier, CarrierId, Submission } from '@gateway/core/dispatch'
import type { Clock } from '@gateway/core/time'

/** Configuration of one carrier, including its secrets. No connection is open yet. */
export type CarrierSpecification =
  | { readonly id: CarrierId; readonly kind: 'smpp'; readonly settings: SmppSettings }
  | { readonly id: CarrierId; readonly kind: 'http'; readonly settings: HttpSettings }
  | {
      readonly id: CarrierId
      readonly kind: 'simulator'
      readonly settings: ReturnType<typeof simulatorSettingsFromUrl>
    }

export interface Place extends Reporting {
  /** Folder in which carriers may keep their own files. */
  readonly dataDir: string
  /** Access to binds and rates that processes share; undefined: this process shares nothing. */
  readonly sharing: Sharing | undefined
  /** Clock of the carrier; by default the clock of this machine. */
  readonly clock?: Clock
}

/** Returns true if both specifications are equal, so that a running carrier need not be replaced. */
export const sameCarrier = (one: CarrierSpecification, other: CarrierSpecification): boolean =>
  isDeepStrictEqual(one, other)

/** Creates the carrier, which connects when its `listen` is called. Throws if the carrier cannot use its folder. */
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

/**
 * Parses the URL of a carrier. `readFile` reads the files that the URL names. Throws an Error that says what is wrong
 * with the URL, without its password.
 */
export function specificationFromUrl(id: CarrierId, url: string, readFile: ReadFile): CarrierSpecification {
  const scheme = schemeOf(url)
  const read = Object.hasOwn(READ, scheme) ? READ[scheme] : undefined
  if (read === undefined) throw new Error(`the URL is of an unknown kind; expected one of ${kinds}`)
  return read(id, url, readFile)
}

export const kinds = Object.keys(READ)
  .map((each) => `${each}:`)
  .join(', ')

export const isKind = (scheme: string): boolean => Object.hasOwn(READ, scheme)

export interface CarrierCertificates {
  /** Carrier and setting that use the certificate. */
  readonly of: string
  readonly are: 'chain' | 'authorities'
  readonly pem: string
}

/** Returns the PEM certificates that the settings of the carriers contain. */
export const certificatesOf = (carriers: readonly CarrierSpecification[]): readonly CarrierCertificates[] =>
  carriers.flatMap(({ id, kind, settings }) =>
    kind !== 'smpp' || settings.tls === undefined
      ? []
      : [
          ...certificatesIn(`carrier ${id} ca`, 'authorities', settings.tls.ca),
          ...certificatesIn(`carrier ${id} cert`, 'chain', settings.tls.cert),
        ],
  )

const certificatesIn = (
  of: string,
  are: CarrierCertificates['are'],
  pem: string | undefined,
): readonly CarrierCertificates[] => (pem === undefined ? [] : [{ of, are, pem }])

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
 * Submits one test message over a separate connection. Over SMPP, waits for the receipts of the message; over HTTP,
 * receipts arrive later as callbacks. If processes share the binds of the carrier, leases a bind first and returns
 * `no-bind` if all binds are in use. Charges no account and stores nothing about the message.
 */
export async function tryCarrier(trial: CarrierTrial, binds?: CarrierBinds): Promise<TrialResult | 'no-bind'> {
  const { carrier, message, saw } = trial
  if (carrier.kind === 'smpp') return tryOverSmpp(carrier.id, carrier.settings, trial, binds)
  const { outcome, reason, reference } = await tryMessage(
    carrier.id,
    carrier.settings,
    message,
    ({ direction, fields }) => saw({ at: Date.now(), direction, fields }),
  )
  const answer = reason === undefined ? outcome : `${outcome}: ${reason}`
  return { problem: undefined, parts: [{ answer, reference, receipt: undefined }] }
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
  // The lease must cover the whole trial: the connection, the answers to at most seven parts, the receipts, and a
  // margin of 30 s.
  const seconds = settings.connectSeconds + 7 * settings.responseSeconds + receiptSeconds + 30
  const { numbers } = await binds.lease(id, holder, { count: 1, max, seconds })
  if (numbers.length === 0) return 'no-bind'
  try {
    return await run()
  } finally {
    await binds.release(id, holder, numbers)
  }
}
