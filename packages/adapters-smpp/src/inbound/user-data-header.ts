import type { InboundMessagePart } from '@gateway/core'

interface UserData {
  /** Without the header. */
  readonly octets: Buffer
  readonly headerOctets: number
  readonly part: InboundMessagePart | undefined
}

/** A header that is longer than the data is none; elements that are cut off or not known are passed over (3GPP TS 23.040, 9.2.3.24). */
export function readUserData(data: Buffer, hasHeader: boolean): UserData {
  const headerOctets = hasHeader ? (data[0] ?? 0) + 1 : 0
  if (headerOctets === 0 || headerOctets > data.length) return { octets: data, headerOctets: 0, part: undefined }
  return { octets: data.subarray(headerOctets), headerOctets, part: partOf(data.subarray(1, headerOctets)) }
}

function partOf(elements: Buffer): InboundMessagePart | undefined {
  for (let at = 0; at + 2 <= elements.length; at += 2 + (elements[at + 1] ?? 0)) {
    const [id, length] = [elements[at], elements[at + 1] ?? 0]
    const value = elements.subarray(at + 2, at + 2 + length)
    if (id === 0 && value.length === 3) return partFrom(value.readUInt8(0), value.subarray(1))
    if (id === 8 && value.length === 4) return partFrom(value.readUInt16BE(0), value.subarray(2))
  }
  return undefined
}

function partFrom(group: number, [of = 0, number = 0]: Buffer): InboundMessagePart | undefined {
  return of < 2 || number < 1 || number > of ? undefined : { group, number, of }
}
