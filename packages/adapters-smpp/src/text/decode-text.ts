import { readCodedText, type CodedText, type Gsm7Text } from '@gateway/core/inbox'
import { fillBitsAfter, unpackSeptets } from './gsm7.ts'

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

/**
 * Returns as one of 0, 4 and 8 what the groups of 3GPP TS 23.038, 4, mean, with and without a message class; values
 * below 0x10 are those of SMPP. A compressed text is 4, because it cannot be read. Reserved groups are the default
 * alphabet, as the specification wants of a receiver.
 */
function codingOf(dataCoding: number): number {
  if (dataCoding >= 0xf0) return (dataCoding & 4) === 0 ? 0 : 4
  if (dataCoding >= 0xe0) return 8 // message waiting, in UCS-2
  if (dataCoding >= 0x80) return 0 // message waiting, and reserved
  if (dataCoding < 0x10) return dataCoding
  if ((dataCoding & 0x20) !== 0) return 4
  return [0, 4, 8, 0][(dataCoding >> 2) & 3] ?? 0
}

/** Whether it says that the data are no text: 2, 4 and their like. */
export const isBinary = (dataCoding: number): boolean => [2, 4].includes(codingOf(dataCoding))

/** What decides how user data behind a header is read: its length, and the national language tables that it names. */
export interface UserDataHeader extends Pick<Gsm7Text, 'locking' | 'single'> {
  readonly octets: number
}

export const noHeader: UserDataHeader = { octets: 0 }

/** Returns user data in the form that core reads; undefined: they are in another encoding, or are no text. */
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
 * Returns the text of user data behind a header. Undefined: they are no text (`isBinary`). Octets that an encoding does
 * not have become U+FFFD.
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
  // IA5 (1) is a part of Latin-1 (3), and what nobody knows is read as that too.
  return label === undefined ? Buffer.from(octets).toString('latin1') : new TextDecoder(label).decode(octets)
}
