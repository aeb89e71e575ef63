import type { Alphabet } from './alphabets.ts'

/** Alphabets that a credential means by data_coding 0 and 1. */
export interface CustomerAlphabets {
  readonly alphabet0: 'gsm' | 'latin1' | 'ascii'
  readonly alphabet1: 'ascii' | 'gsm'
}

export interface DataCoding {
  readonly alphabet: Alphabet
  /** True for message class 0: phones show the text at once and do not keep it. */
  readonly isFlash: boolean
}

/**
 * Reads a data_coding (SMPP 3.4, 5.2.19). Also reads the two groups of 3GPP TS 23.038 with a message class, because
 * customers use them for flash texts. Returns 'binary' for data that is not a text (ruling 5.4), and undefined for a
 * coding that is not offered.
 */
export function readDataCoding(dataCoding: number, alphabets: CustomerAlphabets): DataCoding | 'binary' | undefined {
  if (dataCoding === 0) return { alphabet: alphabets.alphabet0, isFlash: false }
  if (dataCoding === 1) return { alphabet: alphabets.alphabet1, isFlash: false }
  if (dataCoding === 3) return { alphabet: 'latin1', isFlash: false }
  if (dataCoding === 8) return { alphabet: 'ucs2', isFlash: false }
  if (dataCoding === 2 || dataCoding === 4) return 'binary'
  const isFlash = (dataCoding & 3) === 0
  if (dataCoding >= 0xf0 && dataCoding <= 0xf7) return (dataCoding & 4) === 0 ? { alphabet: 'gsm', isFlash } : 'binary'
  if (dataCoding >= 0x10 && dataCoding <= 0x1f) {
    const group = (dataCoding >> 2) & 3
    if (group === 0) return { alphabet: 'gsm', isFlash }
    return group === 2 ? { alphabet: 'ucs2', isFlash } : 'binary'
  }
  return undefined
}
