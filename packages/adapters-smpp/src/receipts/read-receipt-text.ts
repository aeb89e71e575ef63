import { OUTCOME, type DeliveryReceiptCode } from '@gateway/core'

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
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…` in whatever order, letter case and spacing, with fields left out. Only
 * what stands before `text:` counts, so that the text of a message tells nothing.
 */
export function readReceiptText(text: string): ReceiptText {
  const [head = ''] = text.slice(0, 1024).split(/\btext\s*[:=]/i, 1)
  const id = field(head, /\bid\s*[:=]\s*("?)([^\s"]+)\1/i, 2)
  const state = field(head, /\bstat(?:us)?\s*[:=]\s*([a-z_]+)/i, 1)
  const submitDate = field(head, /\bsubmit[\s_]*date\s*[:=]\s*([0-9]{10,14})\b/i, 1)
  return { id, code: state === undefined ? undefined : codeOfWord(state), submitDate }
}

const field = (text: string, pattern: RegExp, group: number): string | undefined => pattern.exec(text)?.[group]

/** The moment of YYMMDDhhmm, YYMMDDhhmmss or YYYYMMDDhhmmss at an offset, in milliseconds since 1970; undefined: there is no such time. */
export function momentOf(digits: string, utcOffsetMinutes: number): number | undefined {
  const full = digits.length === 14 ? digits : `20${digits}`.padEnd(14, '0')
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(full)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return undefined
  if (month < 1 || month > 12 || day < 1 || day > 31 || (hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 60)
    return undefined
  return Date.UTC(year, month - 1, day, hour, minute, second) - utcOffsetMinutes * 60_000
}
