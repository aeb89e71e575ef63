import { TLV_TAG } from './constants.ts'
import { noTlvs, type MalformedReason, type Tlv } from './pdu.ts'

/** Read position in the bytes of one PDU. Reading beyond `end` records the first problem and returns empty values. */
export interface Cursor {
  readonly bytes: Buffer
  at: number
  readonly end: number
  problem: MalformedReason | undefined
  /** True if the octets after the last TLV were ignored and not all of them are NUL. */
  hasTail: boolean
}

export const cursor = (bytes: Buffer, at: number, end: number): Cursor => ({
  ...{ bytes, at, end, problem: undefined, hasTail: false },
})

/** Records a problem, unless an earlier one is recorded, and moves to the end. */
export function fail(from: Cursor, problem: MalformedReason): 0 {
  from.problem ??= problem
  from.at = from.end
  return 0
}

/** Reads one octet. */
export function octet(from: Cursor): number {
  if (from.at >= from.end) return fail(from, 'body-too-short')
  return from.bytes[from.at++] ?? 0
}

/** Reads an integer of four octets. */
export function integer(from: Cursor): number {
  if (from.at + 4 > from.end) return fail(from, 'body-too-short')
  const value = from.bytes.readUInt32BE(from.at)
  from.at += 4
  return value
}

/** Reads a C-octet string of at most `sizeMax` octets with its NUL. By default it may reach to the end of the PDU. */
export function text(from: Cursor, sizeMax = Infinity): string {
  const { bytes, at: start, end } = from
  const limit = Math.min(end, start + sizeMax)
  let at = start
  while (at < limit && bytes[at] !== 0) at++
  if (at === limit) return failText(from, limit < end)
  from.at = at + 1
  return at === start ? '' : bytes.toString('latin1', start, at)
}

/** Reads the last C-octet string of a body. Its NUL may be missing, because many peers omit it there. */
export function lastText(from: Cursor): string {
  const { bytes, at: start, end } = from
  let at = start
  while (at < end && bytes[at] !== 0) at++
  from.at = Math.min(at + 1, end)
  return at === start ? '' : bytes.toString('latin1', start, at)
}

function failText(from: Cursor, isTooLong: boolean): '' {
  fail(from, isTooLong ? 'string-too-long' : from.at === from.end ? 'body-too-short' : 'string-unterminated')
  return ''
}

/** Reads `length` octets as a view. Records `problem` if the PDU ends earlier. */
export function octets(from: Cursor, length: number, problem: MalformedReason): Buffer {
  if (from.at + length > from.end) fail(from, problem)
  else from.at += length
  return from.problem === undefined ? from.bytes.subarray(from.at - length, from.at) : from.bytes.subarray(0, 0)
}

/**
 * Reads the rest of a PDU as TLVs, in order, including TLVs with unknown tags. Ignores a tail that cannot be a TLV,
 * because some SMSCs pad PDUs with octets of their own. Also ignores one NUL between the mandatory fields and the TLVs.
 * Records a problem if a message_payload is cut off, because only half of its text would be read.
 */
export function tlvs(from: Cursor): readonly Tlv[] {
  if (from.at >= from.end) return noTlvs
  const { bytes, at: start } = from
  const isMisplaced = bytes[start] === 0 && !areWhole(from, start) && areWhole(from, start + 1)
  if (isMisplaced) from.at++
  const all: Tlv[] = []
  while (isWhole(from, from.at)) all.push(tlv(from))
  ignoreTail(from)
  return all
}

/** Returns true if the octets at `at` are a TLV that ends within the PDU. */
const isWhole = ({ bytes, end }: Cursor, at: number): boolean =>
  at + 4 <= end && at + 4 + bytes.readUInt16BE(at + 2) <= end

/** Returns true if the octets from `start` to the end are complete TLVs. */
function areWhole(from: Cursor, start: number): boolean {
  let at = start
  while (isWhole(from, at)) at += 4 + from.bytes.readUInt16BE(at + 2)
  return at === from.end && at > start
}

function ignoreTail(from: Cursor): void {
  const { bytes, at, end } = from
  if (at + 4 <= end && bytes.readUInt16BE(at) === TLV_TAG.message_payload) fail(from, 'tlv-too-long')
  from.hasTail = bytes.subarray(at, end).some((octet) => octet !== 0)
  from.at = end
}

function tlv(from: Cursor): Tlv {
  const { bytes, at } = from
  from.at += 4
  return { tag: bytes.readUInt16BE(at), value: octets(from, bytes.readUInt16BE(at + 2), 'tlv-too-long') }
}
