import { circuitDefaults } from '@gateway/carrier-kit'
import { COMMAND_STATUS, type CommandStatusName } from '@gateway/smpp'
import type { IdForm } from './receipts/id-forms.ts'
import type { Alphabet } from './text/decode-text.ts'
import type { LongTexts } from './text/encode-body.ts'

/**
 * Form in which a carrier writes numbers: international digits, the same after `+` or 00, or (`national`) numbers of
 * its own country as they are dialled there.
 */
export type NumberForm = 'digits' | 'plus' | '00' | 'national'

/** Type of number and numbering plan (SMPP 3.4, 5.2.5 and 5.2.6). */
export interface TonNpi {
  readonly ton: number
  readonly npi: number
}

/** Certificates as PEM texts. Undefined values mean Node's defaults. */
export interface TlsSettings {
  readonly serverName: string | undefined
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/** All settings of one carrier. `smppDefaults` suits most carriers. */
export interface SmppSettings {
  readonly host: string
  readonly port: number
  /** If undefined, the connection does not use TLS. */
  readonly tls: TlsSettings | undefined
  readonly systemId: string
  readonly password: string
  readonly systemType: string
  readonly addressRange: string
  readonly interfaceVersion: number
  /** One connection for both directions, or a transmitter and a receiver. */
  readonly bind: 'transceiver' | 'pair'
  /** Number of transceivers, or pairs, that each process binds. */
  readonly binds: number
  /** Maximum number of transceivers, or pairs, of all processes together; undefined means no limit. */
  readonly bindsMax: number | undefined
  /** Maximum number of unanswered requests on one connection. */
  readonly window: number
  /**
   * Maximum number of parts a second over all connections of all processes, which share it. If undefined, the carrier's
   * answers alone limit the rate.
   */
  readonly perSecond: number | undefined
  readonly connectSeconds: number
  /** Time after which a request without a response has an unknown outcome, in seconds. */
  readonly responseSeconds: number
  /**
   * Seconds without a byte from the carrier after which an enquire_link is sent. If as much time passes again without a
   * byte, the connection is dead.
   */
  readonly enquireSeconds: number
  readonly reconnectSeconds: number
  readonly reconnectSecondsMax: number
  /**
   * Seconds after which an answer counts as slow. A slow answer halves the window, and other carriers of the route get
   * the rest of the messages. If undefined, a quarter of `responseSeconds`.
   */
  readonly slowSeconds: number | undefined
  /** Seconds without any answer after which the circuit opens, and other carriers of the route get all messages. */
  readonly silentSeconds: number
  /**
   * Percentage of the latest messages that must fail to open the circuit. A message fails if it gets no answer or is
   * temporarily refused.
   */
  readonly failuresPercent: number
  /** Seconds from the opening of the circuit to the first probe. */
  readonly probeSeconds: number
  /** Maximum seconds between two probes. */
  readonly probeSecondsMax: number
  /** Seconds for which a message waits for a connection or a throttling carrier before it returns to the queue. */
  readonly holdSeconds: number
  /** Seconds for which missing parts are retried when the carrier has accepted other parts of the message. */
  readonly partsSeconds: number
  readonly alphabet: Alphabet
  readonly long: LongTexts
  readonly serviceType: string
  readonly protocolId: number
  readonly priority: number
  /** Hours for which the carrier should try to deliver (validity_period); undefined leaves it to the carrier. */
  readonly validityHours: number | undefined
  /** If undefined, derived from the address. */
  readonly source: TonNpi | undefined
  /** If undefined, derived from the address. */
  readonly destination: TonNpi | undefined
  readonly numbers: NumberForm
  /** Calling code of the carrier's country, for the number form `national`. */
  readonly country: string
  /** Digits dialled before a national number. */
  readonly trunkPrefix: string
  /**
   * Form of the recipient's number in receipts. If undefined, `numbers` applies; `none` means that the number cannot be
   * used.
   */
  readonly receiptNumbers: NumberForm | 'none' | undefined
  /** Seconds after which a delivery that is not stored yet is temporarily refused. */
  readonly storeSeconds: number
  /** Form of ids in receipts, compared to the ids in submit_sm_resp; if undefined, it is learned. */
  readonly receiptId: IdForm | undefined
  /** Regular expression with named groups for the texts of receipts; if undefined, only the usual forms are read. */
  readonly receiptPattern: string | undefined
  /** Seconds from a receipt with the state unknown to the query_sm; undefined disables such queries. */
  readonly queryUnknownSeconds: number | undefined
  /** UTC offset of the times in receipts; if undefined, the times are not used. */
  readonly utcOffsetMinutes: number | undefined
  /** Error classes by command_status that differ from the standard ones. */
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
 * Meaning of a command_status for the message. `final`: the carrier will never accept the message. `for-now`: the
 * carrier may accept the message later. `throttle`: the carrier gets too many messages; the message is sent again and
 * the connection slows down. `link`: the connection is in a wrong state; the message is sent again over a new
 * connection.
 */
export type ErrorClass = 'final' | 'for-now' | 'throttle' | 'link'

export const errorClasses: readonly ErrorClass[] = ['final', 'for-now', 'throttle', 'link']

/**
 * Errors that are not final (SMPP 3.4, 5.1.3). All others, including a carrier's own codes, are final unless its
 * settings say otherwise.
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
  Object.entries(CLASSES).map(([name, errorClass]) => [
    COMMAND_STATUS[name as CommandStatusName] as number,
    errorClass,
  ]),
)

/** Returns the class of a command_status other than 0. */
export const errorClassOf = (status: number, overrides: ReadonlyMap<number, ErrorClass>): ErrorClass =>
  overrides.get(status) ?? byStatus.get(status) ?? 'final'
