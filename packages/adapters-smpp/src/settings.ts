import { circuitDefaults } from '@gateway/core/dispatch'
import { COMMAND_STATUS, type CommandStatusName } from '@gateway/smpp'
import type { IdForm } from './receipts/id-forms.ts'
import type { Alphabet } from './text/decode-text.ts'
import type { LongTexts } from './text/encode-body.ts'

/**
 * How a carrier writes numbers: digits, with a `+`, with the prefix 00, or its own country's as one dials them there.
 */
export type NumberForm = 'digits' | 'plus' | '00' | 'national'

/** Type of number and numbering plan (SMPP 3.4, 5.2.5 and 5.2.6). */
export interface TonNpi {
  readonly ton: number
  readonly npi: number
}

/** Certificates as PEM texts; what is left out is as Node has it. */
export interface TlsSettings {
  readonly serverName: string | undefined
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/** Everything about one carrier. `smppDefaults` suits most; times are in seconds. */
export interface SmppSettings {
  readonly host: string
  readonly port: number
  /** Undefined: without TLS. */
  readonly tls: TlsSettings | undefined
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly addressRange: string
  readonly interfaceVersion: number
  /** One connection for both directions, or a transmitter and a receiver. */
  readonly bind: 'transceiver' | 'pair'
  /** So many transceivers, or pairs, at the same time. */
  readonly binds: number
  /** The same over all processes, which share them; undefined: nobody counts. */
  readonly bindsMax: number | undefined
  /** So many requests of one connection may be unanswered. */
  readonly window: number
  /**
   * At most so many parts a second leave over all connections of all processes, which share it; undefined: as many as
   * the carrier answers.
   */
  readonly perSecond: number | undefined
  readonly connectSeconds: number
  /** A request without an answer for so long has an unknown outcome. */
  readonly responseSeconds: number
  /**
   * After so much silence the other side is asked whether it is there; with no sign of life for as long again it is
   * dead.
   */
  readonly enquireSeconds: number
  readonly reconnectSeconds: number
  readonly reconnectSecondsMax: number
  /**
   * An answer that takes longer is slow: the window is halved, and others of the route get the rest. Undefined: a
   * quarter of `responseSeconds`.
   */
  readonly slowSeconds: number | undefined
  /** For so long nothing was answered: the circuit is opened, and others of the route get all. */
  readonly silentSeconds: number
  /** The same when so many percent of the latest got no answer or were refused for now. */
  readonly failuresPercent: number
  /** The pauses before it is tried again: the first, and the longest. */
  readonly probeSeconds: number
  readonly probeSecondsMax: number
  /** So long a message waits for a connection, or for a throttling carrier, before it goes back to the queue. */
  readonly holdSeconds: number
  /** So long the missing parts of a message are tried of which the carrier has taken others. */
  readonly partsSeconds: number
  readonly alphabet: Alphabet
  readonly long: LongTexts
  readonly serviceType: string
  readonly protocolId: number
  readonly priority: number
  /** What the carrier is told for how long to try; undefined: its own default. */
  readonly validityHours: number | undefined
  /** Undefined: by the address. */
  readonly source: TonNpi | undefined
  readonly destination: TonNpi | undefined
  readonly numbers: NumberForm
  /** The calling code of the carrier's country, for `national`. */
  readonly country: string
  /** What is dialled before a national number. */
  readonly trunkPrefix: string
  /** How receipts write the recipient; undefined: as `numbers`; `none`: not so that it can be used. */
  readonly receiptNumbers: NumberForm | 'none' | undefined
  /** What came and is not stored after so long is refused for now. */
  readonly storeSeconds: number
  /** How the id in a receipt is written, compared to the one in the answer; undefined: learned. */
  readonly receiptId: IdForm | undefined
  /** A regular expression for the texts of receipts, with named groups; undefined: the usual forms only. */
  readonly receiptPattern: string | undefined
  /** So long after it called a message unknown the carrier is asked for it; undefined: it is not. */
  readonly queryUnknownSeconds: number | undefined
  /** Of the times in receipts, in minutes; undefined: not known, and the times are not used. */
  readonly utcOffsetMinutes: number | undefined
  /** What differs from the table of error classes. */
  readonly errors: ReadonlyMap<number, ErrorClass>
}

export const smppDefaults = {
  tls: undefined,
  systemType: '',
  addressRange: '',
  interfaceVersion: 0x34,
  bind: 'transceiver',
  binds: 1,
  bindsMax: undefined,
  window: 50,
  perSecond: undefined,
  connectSeconds: 10,
  responseSeconds: 30,
  enquireSeconds: 15,
  reconnectSeconds: 1,
  reconnectSecondsMax: 30,
  slowSeconds: undefined,
  ...circuitDefaults,
  holdSeconds: 15,
  partsSeconds: 30,
  alphabet: 'gsm-7',
  long: 'udh-8',
  serviceType: '',
  protocolId: 0,
  priority: 0,
  validityHours: undefined,
  source: undefined,
  destination: undefined,
  numbers: 'digits',
  country: '',
  trunkPrefix: '0',
  receiptNumbers: undefined,
  storeSeconds: 10,
  receiptId: undefined,
  receiptPattern: undefined,
  queryUnknownSeconds: undefined,
  utcOffsetMinutes: undefined,
  errors: new Map(),
} as const satisfies Omit<SmppSettings, 'host' | 'port' | 'systemId' | 'password'>

/**
 * What an error of a carrier means for the message. `final`: it will never take it. `for-now`: later it may.
 * `throttle`: it gets too much; the message goes again and the connection slows down. `link`: the connection is not
 * what it should be; the message goes over a new one.
 */
export type ErrorClass = 'final' | 'for-now' | 'throttle' | 'link'

export const errorClasses: readonly ErrorClass[] = ['final', 'for-now', 'throttle', 'link']

/**
 * Errors that are not final (SMPP 3.4, 5.1.3). All others are, and a carrier's own too, unless its operator says
 * otherwise.
 */
const CLASSES: Partial<Record<CommandStatusName, ErrorClass>> = {
  ESME_RINVBNDSTS: 'link',
  ESME_RALYBND: 'link',
  ESME_RSYSERR: 'for-now',
  ESME_RBINDFAIL: 'link',
  ESME_RINVPASWD: 'link',
  ESME_RINVSYSID: 'link',
  ESME_RMSGQFUL: 'throttle',
  ESME_RINVSYSTYP: 'link',
  ESME_RTHROTTLED: 'throttle',
  ESME_RX_T_APPN: 'for-now',
}

const byStatus = new Map(
  Object.entries(CLASSES).map(([name, is]) => [COMMAND_STATUS[name as CommandStatusName] as number, is]),
)

/** The class of a command_status that is not 0. */
export const errorClassOf = (status: number, overrides: ReadonlyMap<number, ErrorClass>): ErrorClass =>
  overrides.get(status) ?? byStatus.get(status) ?? 'final'
