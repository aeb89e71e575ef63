import { readCodedText, type CodedText, type Gsm7Text } from '@gateway/core/inbox'
import { fillBitsAfter, unpackSeptets } from './gsm7.ts'

/** Alphabet that a carrier means by data_coding 0: GSM 7-bit with one septet per octet or packed, or Latin-1. */
export type Alphabet = 'gsm-7' | 'gsm-7-packed' | 'latin-1'

/** Node's names of the encodings in SMPP 3.4, 5.2.19. */
const LABELS: Readonly<Record<number, string>> = {
  5: 'shift_jis',
  6: 'iso-8859-5',
  7: 'iso-8859-8',
  10: 'iso-2022-jp',
  14: 'euc-kr',
}

/**
 * Reduces the coding groups of 3GPP TS 23.038, 4, with and without a message class, to 0 (default alphabet), 4 (binary)
 * or 8 (UCS-2); values below 0x10 are those of SMPP. Compressed text counts as binary, because it cannot be read.
 * Reserved groups count as the default alphabet, as the specification requires of receivers.
 */
function codingOf(dataCoding: number): number {
  if (dataCoding >= 0xf0) return (dataCoding & 4) === 0 ? 0 : 4
  if (dataCoding >= 0xe0) return 8 // message waiting, in UCS-2
  if (dataCoding >= 0x80) return 0 // message waiting, and reserved
  if (dataCoding < 0x10) return dataCoding
  if ((dataCoding & 0x20) !== 0) return 4
  return [0, 4, 8, 0][(dataCoding >> 2) & 3] ?? 0
}

/** Returns true if a data_coding means binary data: 2, 4 and the equivalent coding groups. */
export const isBinary = (dataCoding: number): boolean => [2, 4].includes(codingOf(dataCoding))

/** Properties of a header that affect how its text is read: length in octets and national language tables. */
export interface UserDataHeader extends Pick<Gsm7Text, 'locking' | 'single'> {
  readonly octets: number
}

export const noHeader: UserDataHeader = { octets: 0 }

/** Returns user data in the form that core reads, or undefined if they are in another encoding or binary. */
export function codedText(
  dataCoding: number,
  octets: Uint8Array,
  alphabet: Alphabet,
  { octets: headerOctets, locking, single }: UserDataHeader = noHeader,
): CodedText | undefined {
  const coding = codingOf(dataCoding)
  if (coding === 8) return { coding: 'ucs-2', octets: hexOf(octets) }
  if (coding !== 0 || alphabet === 'latin-1') return undefined
  const septets = alphabet === 'gsm-7-packed' ? unpackSeptets(octets, fillBitsAfter(headerOctets)) : octets
  return { coding: 'gsm-7', octets: hexOf(septets), ...(locking && { locking }), ...(single && { single }) }
}

const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')

/**
 * Returns the text of user data after a header, or undefined for binary data (`isBinary`). Octets that are invalid in
 * the encoding become U+FFFD.
 */
export function decodeText(
  dataCoding: number,
  octets: Uint8Array,
  alphabet: Alphabet,
  header: UserDataHeader = noHeader,
): string | undefined {
  if (isBinary(dataCoding)) return undefined
  const coded = codedText(dataCoding, octets, alphabet, header)
  if (coded !== undefined) return readCodedText(coded)
  const label = LABELS[codingOf(dataCoding)]
  // IA5 (1) is a subset of Latin-1 (3); unknown codings are read as Latin-1 too.
  return label === undefined ? Buffer.from(octets).toString('latin1') : new TextDecoder(label).decode(octets)
}
