import { gsm7Alphabet, gsm7Extension, gsm7ExtensionCodes } from '../messages/body.ts'

/** Tables of one national language (3GPP TS 23.038, annex A). */
interface NationalTables {
  /** Characters at codes 0 to 127; U+001B stands at the escape. Undefined if the language has no locking table. */
  readonly locking?: string
  /** Characters after an escape, by code. */
  readonly single: ReadonlyMap<number, string>
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

const defaultSingle = new Map(Array.from(gsm7Extension, (character, at) => [gsm7ExtensionCodes[at] ?? 0, character]))

/** Returns the default tables with a few characters replaced by letters of a European language. */
const changed = (changes: Readonly<Record<number, string>>): string =>
  Array.from(gsm7Alphabet, (character, code) => changes[code] ?? character).join('')
const extended = (added: Readonly<Record<number, string>>): ReadonlyMap<number, string> =>
  new Map([...defaultSingle, ...Object.entries(added).map(([code, character]) => [Number(code), character] as const)])

/**
 * Codes at which the locking tables A.3.4 to A.3.13 hold characters of their language. At all other codes these tables
 * are the same.
 */
const ownLockingCodes = [
  ...[...range(0x00, 0x09), 0x0b, 0x0c, ...range(0x0e, 0x1a), ...range(0x1c, 0x1f), ...range(0x22, 0x27)],
  ...[0x2a, 0x2b, 0x2d, 0x2f, ...range(0x3c, 0x3e), ...range(0x40, 0x60), ...range(0x7b, 0x7f)],
]
const sharedLocking =
  '          \n  \r             \u001b     !      )(  , . 0123456789:;   ?' +
  '                                 abcdefghijklmnopqrstuvwxyz     '

function asianLocking(own: string): string {
  const characters = Array.from(sharedLocking)
  for (const [at, code] of ownLockingCodes.entries()) characters[code] = own[at] ?? ' '
  return characters.join('')
}

/** Offsets of letters and signs within the Unicode block of an Indic script, in the order of `ownLockingCodes`. */
const indicOffsets = [...range(0x01, 0x03), ...range(0x05, 0x39), ...range(0x3c, 0x4d)]

/**
 * Returns the locking table of an Indic script. Its characters stand in the order of the script's Unicode block.
 * `missing` lists the offsets in the block for which the table has a blank; `last` has the characters at codes 0x60 and
 * 0x7b to 0x7f.
 */
function indicLocking(block: number, missing: readonly number[], last: string): string {
  const own = indicOffsets.map((offset) => (missing.includes(offset) ? ' ' : String.fromCharCode(block + offset)))
  return asianLocking(own.join('') + last)
}

/**
 * Codes at which the single shift tables A.2.4 to A.2.13 hold characters of their language. A blank in the characters
 * of a language means that its table has no character at that code.
 */
const ownSingleCodes = [...[0x19, 0x1a, ...range(0x1c, 0x27), ...range(0x2a, 0x2e), ...range(0x30, 0x3b), 0x3f]]
const capitals = range(0x41, 0x5a).map((code) => [code, String.fromCharCode(code)] as const)
const sharedSingle = new Map([
  ...Array.from('@£$¥¿"¤%&\'\f*+', (character, code) => [code, character] as const),
  ...Array.from('-/<=>¡^¡_#*', (character, at) => [0x0e + at, character] as const),
  ...[...defaultSingle].filter(([code]) => code !== 0x14),
  ...capitals,
])

const asianSingle = (own: string): ReadonlyMap<number, string> =>
  new Map([
    ...sharedSingle,
    ...Array.from(own, (character, at) => [ownSingleCodes[at] ?? 0, character] as const).filter(
      ([, character]) => character !== ' ',
    ),
  ])

/**
 * Tables by national language identifier (3GPP TS 23.038, 6.2.1.2.4). Where the specification has obvious misprints
 * (Kannada locking 0x24, Tamil single 0x24, Telugu single 0x22 and 0x23), the table has the character that continues
 * the sequence, as phones do. Telugu has € at 0x65 like all others, because phones send it.
 */
export const nationalTables: ReadonlyMap<number, NationalTables> = new Map<number, NationalTables>([
  [
    1, // Turkish
    {
      locking: changed({ 4: '€', 7: 'ı', 0x0b: 'Ğ', 0x0c: 'ğ', 0x1c: 'Ş', 0x1d: 'ş', 0x40: 'İ', 0x60: 'ç' }),
      single: extended({ 0x47: 'Ğ', 0x49: 'İ', 0x53: 'Ş', 0x63: 'ç', 0x67: 'ğ', 0x69: 'ı', 0x73: 'ş' }),
    },
  ],
  [
    2, // Spanish
    {
      single: extended({
        ...{ 9: 'ç', 0x41: 'Á', 0x49: 'Í', 0x4f: 'Ó', 0x55: 'Ú', 0x61: 'á', 0x69: 'í', 0x6f: 'ó', 0x75: 'ú' },
      }),
    },
  ],
  [
    3, // Portuguese
    {
      locking: changed({
        ...{ 4: 'ê', 6: 'ú', 7: 'í', 8: 'ó', 9: 'ç', 0x0b: 'Ô', 0x0c: 'ô', 0x0e: 'Á', 0x0f: 'á', 0x12: 'ª' },
        ...{ 0x13: 'Ç', 0x14: 'À', 0x15: '∞', 0x16: '^', 0x17: '\\', 0x18: '€', 0x19: 'Ó', 0x1a: '|', 0x1c: 'Â' },
        ...{ 0x1d: 'â', 0x1e: 'Ê', 0x24: 'º', 0x40: 'Í', 0x5b: 'Ã', 0x5c: 'Õ', 0x5d: 'Ú', 0x60: '~', 0x7b: 'ã' },
        ...{ 0x7c: 'õ', 0x7d: '`' },
      }),
      single: extended({
        ...{ 5: 'ê', 9: 'ç', 0x0b: 'Ô', 0x0c: 'ô', 0x0e: 'Á', 0x0f: 'á', 0x12: 'Φ', 0x13: 'Γ', 0x15: 'Ω', 0x16: 'Π' },
        ...{ 0x17: 'Ψ', 0x18: 'Σ', 0x19: 'Θ', 0x1f: 'Ê', 0x41: 'À', 0x49: 'Í', 0x4f: 'Ó', 0x55: 'Ú', 0x5b: 'Ã' },
        ...{ 0x5c: 'Õ', 0x61: 'Â', 0x69: 'í', 0x6f: 'ó', 0x75: 'ú', 0x7b: 'ã', 0x7c: 'õ', 0x7f: 'â' },
      }),
    },
  ],
  [
    4, // Bengali and Assamese
    {
      locking: indicLocking(
        0x0980,
        [0x0d, 0x0e, 0x11, 0x12, 0x29, 0x31, 0x33, 0x34, 0x35, 0x45, 0x46, 0x49, 0x4a],
        '\u09ce\u09d7\u09dc\u09dd\u09f0\u09f1',
      ),
      single: asianSingle(
        '\u09e6\u09e7\u09e8\u09e9\u09ea\u09eb\u09ec\u09ed\u09ee\u09ef\u09df\u09e0\u09e1\u09e2' +
          '\u09e3\u09f2\u09f3\u09f4\u09f5\u09f6\u09f7\u09f8\u09f9\u09fa',
      ),
    },
  ],
  [
    5, // Gujarati
    {
      locking: indicLocking(0x0a80, [0x0e, 0x12, 0x29, 0x31, 0x34, 0x46, 0x4a], '\u0ad0\u0ae0\u0ae1\u0ae2\u0ae3\u0af1'),
      single: asianSingle('\u0964\u0965\u0ae6\u0ae7\u0ae8\u0ae9\u0aea\u0aeb\u0aec\u0aed\u0aee\u0aef'),
    },
  ],
  [
    6, // Hindi
    {
      locking: indicLocking(0x0900, [], '\u0950\u0972\u097b\u097c\u097e\u097f'),
      single: asianSingle(
        '\u0964\u0965\u0966\u0967\u0968\u0969\u096a\u096b\u096c\u096d\u096e\u096f\u0951\u0952' +
          '\u0953\u0954\u0958\u0959\u095a\u095b\u095c\u095d\u095e\u095f\u0960\u0961\u0962\u0963\u0970\u0971',
      ),
    },
  ],
  [
    7, // Kannada
    {
      locking: indicLocking(0x0c80, [0x01, 0x0d, 0x11, 0x29, 0x34, 0x45, 0x49], '\u0cd5\u0cd6\u0ce0\u0ce1\u0ce2\u0ce3'),
      single: asianSingle('\u0964\u0965\u0ce6\u0ce7\u0ce8\u0ce9\u0cea\u0ceb\u0cec\u0ced\u0cee\u0cef\u0cde\u0cf1\u0cf2'),
    },
  ],
  [
    8, // Malayalam
    {
      locking: indicLocking(0x0d00, [0x01, 0x0d, 0x11, 0x29, 0x3c, 0x45, 0x49], '\u0d57\u0d60\u0d61\u0d62\u0d63\u0d79'),
      single: asianSingle(
        '\u0964\u0965\u0d66\u0d67\u0d68\u0d69\u0d6a\u0d6b\u0d6c\u0d6d\u0d6e\u0d6f\u0d70\u0d71' +
          '\u0d72\u0d73\u0d74\u0d75\u0d7a\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f',
      ),
    },
  ],
  [
    9, // Oriya
    {
      locking: indicLocking(
        0x0b00,
        [0x0d, 0x0e, 0x11, 0x12, 0x29, 0x31, 0x34, 0x45, 0x46, 0x49, 0x4a],
        '\u0b56\u0b57\u0b60\u0b61\u0b62\u0b63',
      ),
      single: asianSingle(
        '\u0964\u0965\u0b66\u0b67\u0b68\u0b69\u0b6a\u0b6b\u0b6c\u0b6d\u0b6e\u0b6f\u0b5c\u0b5d\u0b5f\u0b70\u0b71',
      ),
    },
  ],
  [
    10, // Punjabi
    {
      locking: indicLocking(
        0x0a00,
        [0x0b, 0x0c, 0x0d, 0x0e, 0x11, 0x12, 0x29, 0x31, 0x34, 0x37, 0x3d, 0x43, 0x44, 0x45, 0x46, 0x49, 0x4a],
        '\u0a51\u0a70\u0a71\u0a72\u0a73\u0a74',
      ),
      single: asianSingle(
        '\u0964\u0965\u0a66\u0a67\u0a68\u0a69\u0a6a\u0a6b\u0a6c\u0a6d\u0a6e\u0a6f\u0a59\u0a5a\u0a5b\u0a5c\u0a5e\u0a75',
      ),
    },
  ],
  [
    11, // Tamil
    {
      locking: indicLocking(
        0x0b80,
        [
          ...[0x01, 0x0b, 0x0c, 0x0d, 0x11, 0x16, 0x17, 0x18, 0x1b, 0x1d, 0x20, 0x21, 0x22, 0x25, 0x26, 0x27],
          ...[0x2b, 0x2c, 0x2d, 0x3c, 0x3d, 0x43, 0x44, 0x45, 0x49],
        ],
        '\u0bd0\u0bd7\u0bf0\u0bf1\u0bf2\u0bf9',
      ),
      single: asianSingle(
        '\u0964\u0965\u0be6\u0be7\u0be8\u0be9\u0bea\u0beb\u0bec\u0bed\u0bee\u0bef\u0bf3\u0bf4' +
          '\u0bf5\u0bf6\u0bf7\u0bf8\u0bfa',
      ),
    },
  ],
  [
    12, // Telugu
    {
      locking: indicLocking(0x0c00, [0x0d, 0x11, 0x29, 0x34, 0x3c, 0x45, 0x49], '\u0c55\u0c56\u0c60\u0c61\u0c62\u0c63'),
      single: asianSingle(
        '  \u0c66\u0c67\u0c68\u0c69\u0c6a\u0c6b\u0c6c\u0c6d\u0c6e\u0c6f\u0c58\u0c59' +
          '\u0c78\u0c79\u0c7a\u0c7b\u0c7c\u0c7d\u0c7e\u0c7f',
      ),
    },
  ],
  [
    13, // Urdu
    {
      locking: asianLocking(
        '\u0627\u0622\u0628\u067b\u0680\u067e\u06a6\u062a\u06c2\u067f\u0679\u067d\u067a\u067c\u062b\u062c\u0681\u0684' +
          '\u0683\u0685\u0686\u0687\u062d\u062e\u062f\u068c\u0688\u0689\u068a\u068f\u068d\u0630\u0631\u0691\u0693' +
          '\u0699\u0632\u0696\u0698\u069a\u0633\u0634\u0635\u0636\u0637\u0638\u0639\u0641\u0642\u06a9\u06aa\u06ab' +
          '\u06af\u06b3\u06b1\u0644\u0645\u0646\u06ba\u06bb\u06bc\u0648\u06c4\u06d5\u06c1\u06be\u0621\u06cc\u06d0' +
          '\u06d2\u064d\u0650\u064f\u0657\u0654\u0655\u0651\u0653\u0656\u0670',
      ),
      single: asianSingle(
        '\u0600\u0601\u06f0\u06f1\u06f2\u06f3\u06f4\u06f5\u06f6\u06f7\u06f8\u06f9\u060c\u060d\u060e\u060f\u0610\u0611' +
          '\u0612\u0613\u0614\u061b\u061f\u0640\u0652\u0658\u066b\u066c\u0672\u0673\u06cd\u06d4',
      ),
    },
  ],
])

/** Returns the locking table of a language, or the default alphabet if the language has none or is unknown. */
export const lockingTable = (language: number | undefined): string =>
  (language === undefined ? undefined : nationalTables.get(language)?.locking) ?? gsm7Alphabet

/** Returns the single shift table of a language, or the default extension if the language is unknown. */
export const singleShiftTable = (language: number | undefined): ReadonlyMap<number, string> =>
  (language === undefined ? undefined : nationalTables.get(language)?.single) ?? defaultSingle
