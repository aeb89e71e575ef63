/**
 * Each row: the characters that are replaced, and what replaces them. Only what a reader takes for the same thing is here.
 * Not here, because the text would say something else: letters without their accents, capitals of other scripts, (c) and
 * (r) signs, fractions and powers (`1½` is not `11/2`), the middle dot (`3·5` is not `3.5`), characters that reverse the
 * direction of writing.
 */
const rows: readonly (readonly [lookAlikes: string, replacement: string])[] = [
  // Quotes, primes, and the accents that are typed in their place.
  ['\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u275b\u275c\u02b9\u02bb\u02bc`\u00b4', "'"],
  ['\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\u275d\u275e\u02ba', '"'],
  // Hyphens, dashes, minus.
  ['\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d', '-'],
  ['\u02c6', '^'],
  ['\u02dc\u223c', '~'],
  ['\u00a6', '|'],
  ['\u2044\u2215', '/'],
  ['\u00d7', 'x'],
  ['\u037e', ';'],
  ['\u2022\u2023\u25e6', '*'],
  ['\u2024', '.'],
  ['\u2025', '..'],
  ['\u2026', '...'],
  ['\ufb00', 'ff'],
  ['\ufb01', 'fi'],
  ['\ufb02', 'fl'],
  ['\ufb03', 'ffi'],
  ['\ufb04', 'ffl'],
  ['\ufb05\ufb06', 'st'],
  // The signs for kelvin, ångström and ohm, which Unicode itself holds for the same as the letters.
  ['\u212a', 'K'],
  ['\u212b', 'Å'],
  ['\u2126', 'Ω'],
  // White space that is not in the alphabet: the tab, then the spaces of other widths.
  ['\t\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000', ' '],
  ['\u000b\u0085\u2028\u2029', '\n'],
]

const replacements = new Map(rows.flatMap(([from, to]) => Array.from(from, (character) => [character, to] as const)))

// A letter of the alphabet that arrives as a base letter and a combining mark (as some systems write file names and text).
// Not `text.normalize()`: it takes 1.1 s for 65 000 marks after one letter.
for (const letter of 'èéùìòÇÅåÉÄÖÑÜäöñüà') replacements.set(letter.normalize('NFD'), letter)

const anyLookAlike = new RegExp([...replacements.keys()].join('|'), 'g')

/**
 * `text` with characters outside GSM 7-bit replaced by what looks the same and is inside, where the fixed table has it
 * (ruling 1.7); all else stays. The result may be longer: an ellipsis is three dots.
 */
export const replaceLookAlikes = (text: string): string =>
  text.replace(anyLookAlike, (found) => replacements.get(found) ?? found)

// Soft hyphen, zero-width space and joiners, byte order mark, left-to-right marks around pasted numbers.
const unseen = /[\u00ad\u200b\u2060\ufeff\u200e\u202a\u202c\u2066\u2068\u2069]|\u200c|\u200d/g

/** `text` without the characters that nobody sees. */
export const dropUnseen = (text: string): string => text.replace(unseen, '')
