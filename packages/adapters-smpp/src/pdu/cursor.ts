import { noTlvs, type MalformedReason, type Tlv } from './pdu.ts'

/**
 * A place in the bytes of one PDU. Reading beyond `end` reads nothing: it notes the first problem and gives empty
 * values.
 */
export interface Cursor {
  readonly bytes: Buffer
  at: number
  readonly end: number
  problem: MalformedReason | undefined
}

export const cursor = (bytes: Buffer, at: number, end: number): Cursor => ({ bytes, at, end, problem: undefined })

/** Notes a problem, unless there is one, and goes to the end. */
export function fail(from: Cursor, problem: MalformedReason): 0 {
  from.problem ??= problem
  from.at = from.end
  return 0
}

export function octet(from: Cursor): number {
  if (from.at >= from.end) return fail(from, 'body-too-short')
  return from.bytes[from.at++] ?? 0
}

export function integer(from: Cursor): number {
  if (from.at + 4 > from.end) return fail(from, 'body-too-short')
  const value = from.bytes.readUInt32BE(from.at)
  from.at += 4
  return value
}

/** A C-octet string of at most `sizeMax` octets with its NUL; without a bound, up to the end of the PDU. */
export function text(from: Cursor, sizeMax = Infinity): string {
  const { bytes, at: start, end } = from
  const limit = Math.min(end, start + sizeMax)
  let at = start
  while (at < limit && bytes[at] !== 0) at++
  if (at === limit) return failText(from, limit < end)
  from.at = at + 1
  return at === start ? '' : bytes.toString('latin1', start, at)
}

/** The same of a text that ends what a peer says: many leave out its NUL, and its end is plain. */
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

/** So many octets, as a view. */
export function octets(from: Cursor, length: number, problem: MalformedReason): Buffer {
  if (from.at + length > from.end) fail(from, problem)
  else from.at += length
  return from.problem === undefined ? from.bytes.subarray(from.at - length, from.at) : from.bytes.subarray(0, 0)
}

/** All that follows as TLVs, in order, known or not. */
export function tlvs(from: Cursor): readonly Tlv[] {
  if (from.at >= from.end) return noTlvs
  const all: Tlv[] = []
  while (from.at < from.end) {
    if (from.at + 4 > from.end) fail(from, 'tlv-too-long')
    else all.push(tlv(from))
  }
  return all
}

/** The TLVs that are whole; what is behind the last of them is passed over. */
export function wholeTlvs(from: Cursor): readonly Tlv[] {
  const all: Tlv[] = []
  while (from.at + 4 <= from.end && from.at + 4 + from.bytes.readUInt16BE(from.at + 2) <= from.end) all.push(tlv(from))
  from.at = from.end
  return all
}

function tlv(from: Cursor): Tlv {
  const { bytes, at } = from
  from.at += 4
  return { tag: bytes.readUInt16BE(at), value: octets(from, bytes.readUInt16BE(at + 2), 'tlv-too-long') }
}
