/**
 * A text as the content of an element: with `&`, `<` and `>` escaped, and a space for what XML 1.0 cannot carry, lone surrogates
 * and form feeds among them (ruling 4.7). A carriage return is written as a reference, since a reader would take a bare one
 * for a line feed.
 */
export const escapeText = (text: string): string =>
  /^[\w :./-]*$/.test(text) ? text : carriable(text).replace(/[&<>\r]/g, escapeOf)

/** The text with a space in place of each character that XML 1.0 cannot carry. */
export const carriable = (text: string): string =>
  text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' }

const escapeOf = (character: string): string => ESCAPES[character] ?? character
