/** An optional parameter (SMPP 3.4, 3.2.4). Known or not, it is kept in the order of the wire. */
export interface Tlv {
  /** 0 to 65535; `TLV_TAG` has the names of the standard. */
  readonly tag: number
  /** At most 65535 octets. Of a decoded PDU: a view of the received bytes. */
  readonly value: Buffer
}

export const noTlvs: readonly Tlv[] = Object.freeze([])

/** The value of the first TLV with this tag. */
export function tlvValue(tlvs: readonly Tlv[], tag: number): Buffer | undefined {
  for (const tlv of tlvs) if (tlv.tag === tag) return tlv.value
  return undefined
}

/** The first TLV with this tag as an integer of 1, 2 or 4 octets; undefined: there is none, or it has another length. */
export function tlvInteger(tlvs: readonly Tlv[], tag: number): number | undefined {
  const value = tlvValue(tlvs, tag)
  if (value === undefined) return undefined
  const { length } = value
  return length === 1 || length === 2 || length === 4 ? value.readUIntBE(0, length) : undefined
}

/** The first TLV with this tag as Latin-1 text up to its NUL; carriers leave the NUL out, so it is not required. */
export function tlvText(tlvs: readonly Tlv[], tag: number): string | undefined {
  const value = tlvValue(tlvs, tag)
  if (value === undefined) return undefined
  const nul = value.indexOf(0)
  return value.toString('latin1', 0, nul === -1 ? value.length : nul)
}

/** An integer TLV of 1, 2 or 4 octets. Throws a RangeError if the value does not fit. */
export function integerTlv(tag: number, octets: 1 | 2 | 4, integer: number): Tlv {
  const value = Buffer.allocUnsafe(octets)
  value.writeUIntBE(integer, 0, octets)
  return { tag, value }
}

/** A C-octet string TLV: Latin-1 with a NUL at its end. */
export const textTlv = (tag: number, text: string): Tlv => ({ tag, value: Buffer.from(`${text}\0`, 'latin1') })
