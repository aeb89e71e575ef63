import type { Tlv } from './pdu.ts'

/** Buffer with a write position. The caller reserves the space before writing. */
export interface Sink {
  buffer: Buffer
  at: number
}

/** Writes one octet. Throws a RangeError if the value does not fit. */
export function putOctet(to: Sink, value: number): void {
  if ((value & 0xff) !== value) throw new RangeError(`${value} does not fit one octet`)
  to.buffer[to.at++] = value
}

/** Writes an integer of four octets. Throws a RangeError if the value does not fit. */
export function putInteger(to: Sink, value: number): void {
  if (value >>> 0 !== value) throw new RangeError(`${value} does not fit four octets`)
  const { buffer, at } = to
  buffer[at] = value >>> 24
  buffer[at + 1] = value >>> 16
  buffer[at + 2] = value >>> 8
  buffer[at + 3] = value
  to.at = at + 4
}

/**
 * Writes a C-octet string of at most `sizeMax` octets with its NUL. Throws a RangeError if the text is longer, contains
 * a NUL, or is not Latin-1.
 */
export function putText(to: Sink, text: string, sizeMax: number): void {
  const { buffer } = to
  const { length } = text
  if (length >= sizeMax) throw new RangeError(`a text of ${length} octets and its NUL exceed ${sizeMax} octets`)
  let at = to.at
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0 || code > 0xff) throw new RangeError('a text in SMPP must be Latin-1 without NUL')
    buffer[at++] = code
  }
  buffer[at++] = 0
  to.at = at
}

/** Writes the octets of `value`. */
export function putOctets(to: Sink, value: Buffer): void {
  const { length } = value
  // Beyond 60 octets, a native copy is faster than a loop of assignments.
  if (length > 60) value.copy(to.buffer, to.at)
  else for (let index = 0, { buffer, at } = to; index < length; index++) buffer[at + index] = value[index] ?? 0
  to.at += length
}

/** Writes sm_length and short_message. Throws a RangeError if the message has more than 255 octets. */
export function putMessage(to: Sink, message: Buffer): void {
  putOctet(to, message.length)
  putOctets(to, message)
}

/** Writes optional parameters. Throws a RangeError if a tag or a length does not fit two octets. */
export function putTlvs(to: Sink, tlvs: readonly Tlv[]): void {
  for (const { tag, value } of tlvs) {
    putDouble(to, tag)
    putDouble(to, value.length)
    putOctets(to, value)
  }
}

function putDouble(to: Sink, value: number): void {
  if ((value & 0xffff) !== value) throw new RangeError(`${value} does not fit two octets`)
  to.buffer[to.at++] = value >>> 8
  to.buffer[to.at++] = value & 0xff
}

/** Returns the number of octets that `tlvs` need. */
export function tlvOctets(tlvs: readonly Tlv[]): number {
  let octets = 0
  for (const { value } of tlvs) octets += 4 + value.length
  return octets
}
