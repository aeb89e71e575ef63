import type { Tlv } from './tlv.ts'

/** A buffer that grows, and the place behind what was written. What is reserved fits. */
export interface Sink {
  buffer: Buffer
  at: number
}

export function putOctet(to: Sink, value: number): void {
  if ((value & 0xff) !== value) throw new RangeError(`${value} is no octet`)
  to.buffer[to.at++] = value
}

/** Throws a RangeError beyond 32 bits. */
export function putInteger(to: Sink, value: number): void {
  if (value >>> 0 !== value) throw new RangeError(`${value} is no integer of four octets`)
  const { buffer, at } = to
  buffer[at] = value >>> 24
  buffer[at + 1] = value >>> 16
  buffer[at + 2] = value >>> 8
  buffer[at + 3] = value
  to.at = at + 4
}

/** A C-octet string of at most `sizeMax` octets with its NUL. Throws a RangeError if it is longer or is not Latin-1 without NUL. */
export function putText(to: Sink, text: string, sizeMax: number): void {
  const { buffer } = to
  const { length } = text
  if (length >= sizeMax) throw new RangeError(`a text of ${length} octets has no place in ${sizeMax} with its NUL`)
  let at = to.at
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0 || code > 0xff) throw new RangeError('a text of SMPP is Latin-1 without NUL')
    buffer[at++] = code
  }
  buffer[at++] = 0
  to.at = at
}

export function putOctets(to: Sink, value: Buffer): void {
  const { length } = value
  // A native copy costs as much as 60 assignments.
  if (length > 60) value.copy(to.buffer, to.at)
  else for (let index = 0, { buffer, at } = to; index < length; index++) buffer[at + index] = value[index] ?? 0
  to.at += length
}

export function putTlvs(to: Sink, tlvs: readonly Tlv[]): void {
  for (const { tag, value } of tlvs) {
    putDouble(to, tag)
    putDouble(to, value.length)
    putOctets(to, value)
  }
}

function putDouble(to: Sink, value: number): void {
  if ((value & 0xffff) !== value) throw new RangeError(`${value} is no integer of two octets`)
  to.buffer[to.at++] = value >>> 8
  to.buffer[to.at++] = value & 0xff
}

/** The octets of all TLVs. */
export function tlvOctets(tlvs: readonly Tlv[]): number {
  let octets = 0
  for (const { value } of tlvs) octets += 4 + value.length
  return octets
}
