import type { DeliveryReceiptCode } from '@gateway/core/dispatch'
import { parseStoredMsisdn, OUTCOME, type Msisdn } from '@gateway/core/messages'
import { instant, type Instant } from '@gateway/core/time'
import { readNumber } from '../numbers.ts'
import { TLV_TAG, tlvInteger, tlvText, tlvValue } from '@gateway/smpp'
import type { Delivered } from '../session/session.ts'
import type { SmppSettings } from '../settings.ts'
import { decodeText } from '../text/decode-text.ts'
import { compilePattern, type Pattern, type PatternMatch } from './receipt-pattern.ts'

/** Receipt as the carrier wrote it. */
export interface CarrierReceipt {
  /** The carrier's id of the message, exactly as in the receipt. */
  readonly id: string
  readonly code: DeliveryReceiptCode
  readonly number: Msisdn | undefined
  readonly submitted: Instant | undefined
  /**
   * True if only the text, not the PDU, has the form of a receipt. A person may have written the text, so the receipt
   * counts only for a message to the number that sent it.
   */
  readonly isByTextAlone?: boolean
}

const receiptBit = 0x04
const notificationBit = 0x20
const messageTypeBits = 0x3c
/** Bits of esm_class for the messaging mode, which does not depend on the content. */
const messagingModeBits = 0x03

/**
 * Returns true for receipts and intermediate notifications by esm_class (SMPP 3.4, 5.2.12), or with the TLV of a
 * receipt.
 */
export function isReceipt({ esmClass, tlvs }: Pick<Delivered, 'esmClass' | 'tlvs'>): boolean {
  const type = esmClass & messageTypeBits
  return type === receiptBit || type === notificationBit || tlvValue(tlvs, TLV_TAG.receipted_message_id) !== undefined
}

/** Matches a text that begins with all receipt fields of SMPP 3.4, appendix B, in their order. */
const exactReceipt =
  /^id:[^\s:]+ sub:\d{1,3} dlvrd:\d{1,3} submit date:\d{10,14} done date:\d{10,14} stat:[A-Z]{6,13} err:[0-9A-Za-z]{1,3}(?: text:|$)/i

/**
 * Reads a receipt that a carrier sends with esm_class 0, so that only its text identifies it. Returns undefined if the
 * text is not a receipt, or if the sender's number, which must be that of the message, cannot be used.
 */
export function readReceiptByText(pdu: Delivered, settings: SmppSettings): CarrierReceipt | undefined {
  if ((pdu.esmClass & ~messagingModeBits) !== 0 || !exactReceipt.test(userDataOf(pdu).toString('latin1')))
    return undefined
  const receipt = readReceipt(pdu, settings)
  return receipt === 'unreadable' || receipt.number === undefined ? undefined : { ...receipt, isByTextAlone: true }
}

export const userDataOf = (pdu: Delivered): Buffer => {
  const payload = tlvValue(pdu.tlvs, TLV_TAG.message_payload)
  if (pdu.command === 'data_sm') return payload ?? Buffer.alloc(0)
  return pdu.shortMessage.length > 0 ? pdu.shortMessage : (payload ?? pdu.shortMessage)
}

/**
 * Reads a receipt. TLVs take precedence; the text is read only if a value is missing, because reading it takes 0.45 µs.
 * Returns 'unreadable' if the receipt names no message or no state.
 */
export function readReceipt(pdu: Delivered, settings: SmppSettings): CarrierReceipt | 'unreadable' {
  const tlvId = tlvText(pdu.tlvs, TLV_TAG.receipted_message_id)?.trim()
  const state = tlvInteger(pdu.tlvs, TLV_TAG.message_state)
  const areTlvsEnough = tlvId !== undefined && isStateOfReceipts(state) && settings.utcOffsetMinutes === undefined
  const text = areTlvsEnough ? noText : readText(textOf(pdu, settings), settings)
  const id = tlvId ?? text.id
  const tlvCode = state === undefined ? undefined : codeOfState(state)
  const code = isStateOfReceipts(state) ? tlvCode : (text.code ?? tlvCode)
  if (id === undefined || id === '' || code === undefined) return 'unreadable'
  return { id, code, number: numberOf(pdu, settings), submitted: submittedAt(text.submitDate, settings) }
}

/**
 * Returns true for the states that a receipt can have: 1 to 8 in SMPP 3.4, and 9 of version 5.0. For any other state,
 * such as the 0 of carriers that do not set the state, the text of the receipt decides.
 */
export const isStateOfReceipts = (state: number | undefined): boolean => state !== undefined && state >= 1 && state <= 9

const noText: ReceiptText = { id: undefined, code: undefined, submitDate: undefined }

/** Returns the number that sent the receipt, or undefined if the settings or the number make it unusable. */
function numberOf({ sourceAddr, sourceAddrTon }: Delivered, settings: SmppSettings): Msisdn | undefined {
  const numbers = settings.receiptNumbers ?? settings.numbers
  return numbers === 'none' ? undefined : parseStoredMsisdn(readNumber(sourceAddr, sourceAddrTon, settings, numbers))
}

/**
 * Returns the text of a PDU. Some carriers mark ASCII receipts as UCS-2, so a text with an id is read as ASCII first.
 */
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

/** Values found in the text of a receipt. */
export interface ReceiptText {
  readonly id: string | undefined
  readonly code: DeliveryReceiptCode | undefined
  /** Digits as in the text: YYMMDDhhmm, YYMMDDhhmmss or YYYYMMDDhhmmss. */
  readonly submitDate: string | undefined
}

const { delivered, expired, cancelled, undeliverable, underWay, unknown, rejected, failed } = OUTCOME

/** States of SMPP 3.4, appendix B, and the variants that carriers use. */
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

/** Codes by message_state (SMPP 3.4, 5.2.28; 0 and 9 are from version 5). */
const MESSAGE_STATES: readonly DeliveryReceiptCode[] = [
  ...[underWay, underWay, delivered, expired, cancelled],
  ...[undeliverable, underWay, unknown, rejected, failed],
]

/** Returns the code of a state in the text of a receipt, or the code `unknown` for a word that is in no table. */
export const codeOfWord = (word: string): DeliveryReceiptCode => STATES[word.toUpperCase()] ?? unknown
/** Returns the code of a message_state, or the code `unknown` for a number that is in no table. */
export const codeOfState = (state: number): DeliveryReceiptCode => MESSAGE_STATES[state] ?? unknown

/**
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`. The fields may be missing and have any
 * order, letter case and spacing. The part after `text:` is ignored, because it is the text of the original message.
 */
export function readReceiptText(text: string): ReceiptText {
  const head = headOf(text)
  const id = field(head, /\bid\s*[:=]\s*("?)([^\s"]+)\1/i, 2)
  const state = field(head, /\bstat(?:us)?\s*[:=]\s*([a-z_]+)/i, 1)
  const submitDate = field(head, /\bsubmit[\s_]*date\s*[:=]\s*([0-9]{10,14})\b/i, 1)
  return { id, code: state === undefined ? undefined : codeOfWord(state), submitDate }
}

/** Returns the part of a receipt before the text of the original message. */
export const headOf = (text: string): string => text.slice(0, textMax).split(/\btext\s*[:=]/i, 1)[0] ?? ''

// Receipt pattern of a carrier

/** Maximum length of the text that is read, in characters. */
const textMax = 1024

/** Pattern groups that determine the state if they match; named after the SMPP states. */
const outcomeGroups = ['enroute', 'delivered', 'expired', 'deleted', 'undeliverable', 'accepted', 'unknown', 'rejected']
const usefulGroups: ReadonlySet<string> = new Set(['id', 'stat', 'err', 'submit', ...outcomeGroups])
const patternGroups: ReadonlySet<string> = new Set([...usefulGroups, 'done', 'sub', 'dlvrd'])

/** Throws an Error that states the problem if `source` is not a valid `receiptPattern`. */
export function checkReceiptPattern(source: string): void {
  const { groups } = compilePattern(source)
  const unknownGroup = groups.find((name) => !patternGroups.has(name))
  if (unknownGroup !== undefined)
    throw new Error(`unknown group ${unknownGroup}; expected one of ${[...patternGroups].join(', ')}`)
  if (!groups.some((name) => usefulGroups.has(name))) throw new Error('a named group is expected, such as (?<id>\\S+)')
}

const patterns = new WeakMap<SmppSettings, Pattern>()

/** Reads the usual fields; values found by the carrier's pattern take precedence. */
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

/**
 * Returns the code of the matched groups. If no state matched, an error of zeros means delivered, and any other error
 * means failed.
 */
function codeOfGroups(found: PatternMatch): DeliveryReceiptCode | undefined {
  const word = found['stat'] ?? outcomeGroups.find((name) => found[name] !== undefined)
  if (word !== undefined) return codeOfWord(word)
  const error = found['err']
  if (error === undefined || error === '') return undefined
  return /^0+$/.test(error) ? delivered : failed
}

const field = (text: string, pattern: RegExp, group: number): string | undefined => pattern.exec(text)?.[group]

/**
 * Converts YYMMDDhhmm, YYMMDDhhmmss or YYYYMMDDhhmmss at a UTC offset to milliseconds since 1970. Returns undefined if
 * there is no such time.
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
