import { create, fragment } from 'xmlbuilder2'

/**
 * Escapes a text for an element: `&`, `<`, `>` as references, and a space for each character that XML 1.0 excludes,
 * such as lone surrogates and form feeds (ruling 4.7). A carriage return becomes a reference, because a reader would
 * turn it into a line feed.
 */
export const escapeText = (text: string): string =>
  /^[\w :./-]*$/.test(text) ? text : carriable(text).replace(/[&<>\r]/g, escapeOf)

/** Replaces each character that XML 1.0 excludes by a space. */
export const carriable = (text: string): string =>
  text.replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' }

const escapeOf = (character: string): string => ESCAPES[character] ?? character

const mark = '{}'

/**
 * Returns a function that fills a template. xmlbuilder2 renders each template once, when the process starts: building a
 * response for 1000 recipients takes xmlbuilder2 6 to 10 ms, filling templates 0.2 ms. The tests prove that both
 * produce equal documents.
 */
const filler = (filled: string, empty: string) => {
  const [before = '', after = ''] = filled.split(mark)
  return (content: string): string => (content === '' ? empty : before + content + after)
}

/** Returns a function that renders an element around rendered child elements. */
export const container = (name: string): ((content: string) => string) =>
  filler(fragment().ele(name).txt(mark).up().toString(), fragment().ele(name).up().toString())

/** Returns a function that renders an element with escaped text. */
export const leaf = (name: string): ((text: string | number) => string) => {
  const fill = container(name)
  return (text) => fill(escapeText(String(text)))
}

/**
 * Returns a function that renders a document with this root (ruling 4.7). Empty content gives an empty root (ruling
 * 4.10).
 */
export const document = (root: string): ((content: string) => string) => {
  const start = () => create({ version: '1.0', encoding: 'utf-8' }).ele(root)
  return filler(start().txt(mark).end(), start().end())
}
