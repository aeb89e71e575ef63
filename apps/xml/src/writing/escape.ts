/**
 * Escapes a text for an element: `&`, `<`, `>` as references, and a space for each character that XML 1.0 excludes, such as lone
 * surrogates and form feeds (ruling 4.7). A carriage return becomes a reference, because a reader would turn it into a line feed.
 */
export const escapeText = (text: string): string =>
  /^[\w :./-]*$/.test(text) ? text : carriable(text).replace(/[&<>\r]/g, escapeOf)

/** Replaces each character that XML 1.0 excludes by a space. */
export const carriable = (text: string): string =>
  text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' }

const escapeOf = (character: string): string => ESCAPES[character] ?? character
