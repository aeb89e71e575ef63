const isWhiteSpace = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09

/**
 * The text without the white space around it that XML knows: space, tab, CR and LF (rulings 3.1, 4.2). Linear, whatever
 * the text.
 */
export function trimWhiteSpace(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isWhiteSpace(text.charCodeAt(from))) from++
  while (to > from && isWhiteSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}
