import type { DeliveryReceiptCode } from '@gateway/core/dispatch'
import { parseStoredMsisdn, OUTCOME, type Msisdn } from '@gateway/core/messages'
import { instant, type Instant } from '@gateway/core/time'
import { readNumber } from '../numbers.ts'
import { TLV_TAG, tlvInteger, tlvText, tlvValue } from '@gateway/smpp'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { decodeText } from '../text/decode-text.ts'
import { compilePattern, type Pattern, type PatternMatch } from './receipt-pattern.ts'

/** A receipt as the carrier wrote it. */
export interface CarrierReceipt {
  /** The carrier's id of the message as it stands in the receipt. */
  readonly id: string
  readonly code: DeliveryReceiptCode
  readonly number: Msisdn | undefined
  readonly submitted: Instant | undefined
  /**
   * Its PDU does not say that it is a receipt, so a person may have written it: it counts only for a message to its own
   * number.
   */
  readonly isByTextAlone?: boolean
}

const receiptBit = 0x04
const notificationBit = 0x20
const messageTypeBits = 0x3c
/** The messaging mode, which tells nothing of the content. */
const carriageBits = 0x03

/** Whether it is a receipt of the carrier or a notification on the way (SMPP 3.4, 5.2.12), or says so by its TLVs. */
export function isReceipt({ esmClass, tlvs }: Pick<Delivered, 'esmClass' | 'tlvs'>): boolean {
  const type = esmClass & messageTypeBits
  return type === receiptBit || type === notificationBit || tlvValue(tlvs, TLV_TAG.receipted_message_id) !== undefined
}

/** All fields of SMPP 3.4, appendix B, in their order, and nothing before them. */
const exactReceipt =
  /^id:[^\s:]+ sub:\d{1,3} dlvrd:\d{1,3} submit date:\d{10,14} done date:\d{10,14} stat:[A-Z]{6,13} err:[0-9A-Za-z]{1,3}(?: text:|$)/i

/**
 * What carriers send with esm_class 0 that is a receipt by its text alone. Undefined: it is none, or does not tell the
 * number that its message must have been sent to.
 */
export function readReceiptByText(pdu: Delivered, settings: SmppSettings): CarrierReceipt | undefined {
  if ((pdu.esmClass & ~carriageBits) !== 0 || !exactReceipt.test(userDataOf(pdu).toString('latin1'))) return undefined
  const receipt = readReceipt(pdu, settings)
  return receipt === 'unreadable' || receipt.number === undefined ? undefined : { ...receipt, isByTextAlone: true }
}

export const userDataOf = (pdu: Delivered): Buffer => {
  const payload = tlvValue(pdu.tlvs, TLV_TAG.message_payload)
  if (pdu.command === 'data_sm') return payload ?? Buffer.alloc(0)
  return pdu.shortMessage.length > 0 ? pdu.shortMessage : (payload ?? pdu.shortMessage)
}

/**
 * TLVs count more than the text, which is only read for what they do not tell: reading it takes 0.45 µs. 'unreadable':
 * it does not tell which message it is of, or not what became of it.
 */
export function readReceipt(pdu: Delivered, settings: SmppSettings): CarrierReceipt | 'unreadable' {
  const given = tlvText(pdu.tlvs, TLV_TAG.receipted_message_id)?.trim()
  const state = tlvInteger(pdu.tlvs, TLV_TAG.message_state)
  const isTold = given !== undefined && isStateOfReceipts(state) && settings.utcOffsetMinutes === undefined
  const text = isTold ? untold : readText(textOf(pdu, settings), settings)
  const id = given ?? text.id
  const told = state === undefined ? undefined : codeOfState(state)
  const code = isStateOfReceipts(state) ? told : (text.code ?? told)
  if (id === undefined || id === '' || code === undefined) return 'unreadable'
  return { id, code, number: numberOf(pdu, settings), submitted: submittedAt(text.submitDate, settings) }
}

/**
 * SMPP 3.4 has states from 1 to 8 and 5.0 has 9; with any other, 0 of carriers that leave it unset among them, the text
 * counts.
 */
export const isStateOfReceipts = (state: number | undefined): boolean => state !== undefined && state >= 1 && state <= 9

const untold: ReceiptText = { id: undefined, code: undefined, submitDate: undefined }

/** Undefined: it does not tell a number that can be relied on. */
function numberOf({ sourceAddr, sourceAddrTon }: Delivered, settings: SmppSettings): Msisdn | undefined {
  const numbers = settings.receiptNumbers ?? settings.numbers
  return numbers === 'none' ? undefined : parseStoredMsisdn(readNumber(sourceAddr, sourceAddrTon, settings, numbers))
}

/** The formats are ASCII, whatever data_coding says: some carriers flag ASCII as UCS-2. */
export function textOf(pdu: Delivered, { alphabet }: SmppSettings): string {
  const octets = userDataOf(pdu)
  const plain = octets.toString('latin1')
  if (/\bid\s*[:=]/i.test(plain) || (pdu.dataCoding === 8 && /^[\t\n\r -~]*\0*$/.test(plain))) return plain
  return decodeText(pdu.dataCoding, octets, alphabet) ?? ''
}

function submittedAt(digits: string | undefined, { utcOffsetMinutes }: SmppSettings): Instant | undefined {
  if (digits === undefined || utcOffsetMinutes === undefined) return undefined
  const milliseconds = momentOf(digits, utcOffsetMinutes)
  return milliseconds === undefined ? undefined : instant(milliseconds)
}

/** What the text of a receipt tells. */
export interface ReceiptText {
  readonly id: string | undefined
  readonly code: DeliveryReceiptCode | undefined
  /** As it is written: YYMMDDhhmm, perhaps with seconds, perhaps with the century. */
  readonly submitDate: string | undefined
}

const { delivered, expired, cancelled, undeliverable, underWay, unknown, rejected, failed } = OUTCOME

/** The words of SMPP 3.4, appendix B, and those that carriers write instead. */
const STATES: Readonly<Record<string, DeliveryReceiptCode>> = {
  DELIVRD: delivered,
  DELIVERED: delivered,
  DELIVERD: delivered,
  EXPIRED: expired,
  DELETED: cancelled,
  CANCELED: cancelled,
  CANCELLED: cancelled,
  UNDELIV: undeliverable,
  UNDELIVERABLE: undeliverable,
  UNDELIVERED: undeliverable,
  UNDELIVRD: undeliverable,
  ACCEPTD: underWay,
  ACCEPTED: underWay,
  ENROUTE: underWay,
  EN_ROUTE: underWay,
  BUFFRED: underWay,
  BUFFERED: underWay,
  SCHEDULED: underWay,
  SUBMITD: underWay,
  UNKNOWN: unknown,
  REJECTD: rejected,
  REJECTED: rejected,
  FAILED: failed,
  SKIPPED: failed,
}

/** message_state (SMPP 3.4, 5.2.28; 0 and 9 are of version 5). */
const MESSAGE_STATES: readonly DeliveryReceiptCode[] = [
  ...[underWay, underWay, delivered, expired, cancelled],
  ...[undeliverable, underWay, unknown, rejected, failed],
]

/** A word or number that nobody knows says nothing of the outcome: unknown. */
export const codeOfWord = (word: string): DeliveryReceiptCode => STATES[word.toUpperCase()] ?? unknown
export const codeOfState = (state: number): DeliveryReceiptCode => MESSAGE_STATES[state] ?? unknown

/**
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…` in whatever order, letter case and spacing,
 * with fields left out. Only what stands before `text:` counts, so that the text of a message tells nothing.
 */
export function readReceiptText(text: string): ReceiptText {
  const head = headOf(text)
  const id = field(head, /\bid\s*[:=]\s*("?)([^\s"]+)\1/i, 2)
  const state = field(head, /\bstat(?:us)?\s*[:=]\s*([a-z_]+)/i, 1)
  const submitDate = field(head, /\bsubmit[\s_]*date\s*[:=]\s*([0-9]{10,14})\b/i, 1)
  return { id, code: state === undefined ? undefined : codeOfWord(state), submitDate }
}

/** What stands before the text of the message. */
export const headOf = (text: string): string => text.slice(0, textMax).split(/\btext\s*[:=]/i, 1)[0] ?? ''

// The pattern of a carrier

const textMax = 1024

/** What groups of a pattern say of the outcome by having matched; the names are those of SMPP. */
const outcomeGroups = ['enroute', 'delivered', 'expired', 'deleted', 'undeliverable', 'accepted', 'unknown', 'rejected']
const tellingGroups: ReadonlySet<string> = new Set(['id', 'stat', 'err', 'submit', ...outcomeGroups])
const patternGroups: ReadonlySet<string> = new Set([...tellingGroups, 'done', 'sub', 'dlvrd'])

/** Throws an Error that says what is wrong with a `receiptPattern`. */
export function checkReceiptPattern(source: string): void {
  const { groups } = compilePattern(source)
  const stranger = groups.find((name) => !patternGroups.has(name))
  if (stranger !== undefined)
    throw new Error(`there is no group ${stranger}; there are ${[...patternGroups].join(', ')}`)
  if (!groups.some((name) => tellingGroups.has(name))) throw new Error('a named group is expected, such as (?<id>\\S+)')
}

const patterns = new WeakMap<SmppSettings, Pattern>()

/** What the pattern of the carrier finds counts more than what all carriers write. */
function readText(text: string, settings: SmppSettings): ReceiptText {
  const usual = readReceiptText(text)
  if (settings.receiptPattern === undefined) return usual
  const pattern = patterns.get(settings) ?? compilePattern(settings.receiptPattern)
  patterns.set(settings, pattern)
  const found = pattern.match(text.slice(0, textMax))
  if (found === undefined) return usual
  const [id, submitDate] = [found['id'], found['submit']]
  return {
    id: id === undefined || id === '' ? usual.id : id,
    code: codeOfGroups(found) ?? usual.code,
    submitDate: submitDate !== undefined && /^\d{10,14}$/.test(submitDate) ? submitDate : usual.submitDate,
  }
}

/** An error without a state tells whether it was delivered. */
function codeOfGroups(found: PatternMatch): DeliveryReceiptCode | undefined {
  const word = found['stat'] ?? outcomeGroups.find((name) => found[name] !== undefined)
  if (word !== undefined) return codeOfWord(word)
  const error = found['err']
  if (error === undefined || error === '') return undefined
  return /^0+$/.test(error) ? delivered : failed
}

const field = (text: string, pattern: RegExp, group: number): string | undefined => pattern.exec(text)?.[group]

/**
 * The moment of YYMMDDhhmm, YYMMDDhhmmss or YYYYMMDDhhmmss at an offset, in milliseconds since 1970; undefined: there
 * is no such time.
 */
export function momentOf(digits: string, utcOffsetMinutes: number): number | undefined {
  const full = digits.length === 14 ? digits : `20${digits}`.padEnd(14, '0')
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(full)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return undefined
  if (month < 1 || month > 12 || day < 1 || day > 31 || (hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 60)
    return undefined
  return Date.UTC(year, month - 1, day, hour, minute, second) - utcOffsetMinutes * 60_000
}
