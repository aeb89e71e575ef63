import { decodeGsm7, fillBitsAfter, unpackSeptets } from './gsm7.ts'

/** What a carrier means by data_coding 0: GSM 7-bit with one septet an octet or packed, or Latin-1. */
export type Alphabet = 'gsm-7' | 'gsm-7-packed' | 'latin-1'

/** Encodings of SMPP 3.4, 5.2.19, that Node knows under another name. */
const LABELS: Readonly<Record<number, string>> = {
  5: 'shift_jis',
  6: 'iso-8859-5',
  7: 'iso-8859-8',
  10: 'iso-2022-jp',
  14: 'euc-kr',
}

/** As one of 0, 4 and 8, what the groups of 3GPP TS 23.038, 4 mean, with and without a message class. */
function codingOf(dataCoding: number): number {
  if (dataCoding >= 0xf0) return (dataCoding & 4) === 0 ? 0 : 4
  if (dataCoding >= 0xe0) return 8 // message waiting, in UCS-2
  if (dataCoding >= 0xc0) return 0 // message waiting
  if (dataCoding >= 0x10 && dataCoding < 0x80) return [0, 4, 8, 0][(dataCoding >> 2) & 3] ?? 0
  return dataCoding
}

/** Whether it says that the data are no text: 2, 4 and their like. */
export const isBinary = (dataCoding: number): boolean => [2, 4].includes(codingOf(dataCoding))

/**
 * The text of user data behind a header of `headerOctets` octets. Undefined: it is none (`isBinary`). Bytes that an
 * encoding does not have become U+FFFD.
 */
export function decodeText(
  dataCoding: number,
  octets: Uint8Array,
  alphabet: Alphabet,
  headerOctets = 0,
): string | undefined {
  if (isBinary(dataCoding)) return undefined
  const coding = codingOf(dataCoding)
  if (coding === 0 && alphabet !== 'latin-1') {
    const isPacked = alphabet === 'gsm-7-packed'
    return decodeGsm7(isPacked ? unpackSeptets(octets, fillBitsAfter(headerOctets)) : octets)
  }
  if (coding === 8) return decodeUcs2(octets)
  const label = LABELS[coding]
  // IA5 (1) is a part of Latin-1 (3), and what nobody knows is read as that too.
  return label === undefined ? Buffer.from(octets).toString('latin1') : new TextDecoder(label).decode(octets)
}

/** Not by TextDecoder: it would replace the half of a surrogate pair that a part ends with. */
function decodeUcs2(octets: Uint8Array): string {
  const even = Buffer.from(octets.subarray(0, octets.length & ~1))
  return even.swap16().toString('utf16le')
}
