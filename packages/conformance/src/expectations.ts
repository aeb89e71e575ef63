import { deepStrictEqual, fail, match, ok, strictEqual } from 'node:assert/strict'
import { create } from 'xmlbuilder2'
import type { Answer } from './http.ts'

/** Returns the value of a header that must occur once. */
export const header = (answer: Answer, name: string): string | undefined => answer.headers.get(name)?.join(', ')

const envelope = (status: number): RegExp =>
  new RegExp(String.raw`^\{"timeStamp":"\d{17}","version":"1\.0","statusCode":${status}(?=[,}])`)

/** Asserts a REST response with this status in its envelope (ruling 2.1). Returns the JSON text after the envelope. */
export function expectEnvelope(answer: Answer, status: number): string {
  strictEqual(answer.status, status, `HTTP status ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`)
  strictEqual(header(answer, 'content-type'), 'application/json; charset=utf-8')
  const head =
    envelope(status).exec(answer.text)?.[0] ??
    fail(`the response does not begin with an envelope that has the statusCode ${status}: ${answer.text.slice(0, 300)}`)
  JSON.parse(answer.text)
  ok(!/\s/.test(withoutStrings(answer.text)), `white space between tokens: ${answer.text.slice(0, 300)}`)
  ok(answer.text.endsWith('}'))
  return answer.text.slice(head.length, -1)
}

const withoutStrings = (json: string): string => json.replace(/"(?:[^"\\]|\\.)*"/g, '')

/** Asserts a successful REST response whose text after the envelope is `tail`, byte for byte. */
export function expectRest(answer: Answer, tail: string | RegExp): void {
  const rest = expectEnvelope(answer, 200)
  if (typeof tail === 'string') strictEqual(rest, tail)
  else match(rest, tail)
}

/**
 * Asserts a REST error: the envelope with an `errorMessage` that matches `says`, and an `errorCode` (ruling 2.16).
 * Returns the message.
 */
export function expectRestError(answer: Answer, status: number, says: RegExp = /./): string {
  const [, message] =
    /^,"errorMessage":("(?:[^"\\]|\\.)+"),"errorCode":"[a-z]+(?:-[a-z]+)*"$/.exec(expectEnvelope(answer, status)) ?? []
  if (message === undefined)
    fail(`the envelope is not followed by errorMessage and errorCode: ${answer.text.slice(0, 300)}`)
  const text = JSON.parse(message) as string
  match(text, says)
  return text
}

/** Returns the parsed body of a successful REST response. */
export function restBody<Body>(answer: Answer): Readonly<Body> {
  expectEnvelope(answer, 200)
  return JSON.parse(answer.text) as Readonly<Body>
}

/**
 * Asserts a response of the query-string interface with the headers of ruling 3.2 and this text, byte for byte. Returns
 * the text.
 */
export function expectAsp(answer: Answer, text: string | RegExp, status = 200): string {
  strictEqual(answer.status, status, `HTTP status ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`)
  if (typeof text === 'string') strictEqual(answer.text, text)
  else match(answer.text, text)
  strictEqual(header(answer, 'content-type'), 'text/plain; charset=utf-8')
  strictEqual(header(answer, 'cache-control'), 'no-store')
  strictEqual(header(answer, 'x-content-type-options'), 'nosniff')
  return answer.text
}

const declaration = '<?xml version="1.0" encoding="utf-8"?>'

/**
 * Returns the elements of an XML response in a normalized form, without white space between them, and checks its
 * headers (ruling 4.7). Texts are unescaped once, so that a text that was escaped twice stays different.
 */
export function xmlText(answer: Answer, status = 200): string {
  strictEqual(answer.status, status, `HTTP status ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`)
  strictEqual(header(answer, 'content-type'), 'text/xml; charset=utf-8')
  ok(answer.text.startsWith(declaration), `no declaration: ${answer.text.slice(0, 100)}`)
  const elements = answer.text.slice(declaration.length)
  // Throws if the document is not well-formed.
  create(elements)
  return inOneForm(elements)
}

/** Normalizes elements by hand, because xmlbuilder2 does not escape an `&` that begins an entity. */
const inOneForm = (elements: string): string =>
  elements
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<!\[CDATA\[([^]*?)\]\]>/g, (_, text: string) => escaped(text))
    .replace(/>\s+</g, '><')
    .replace(/\s*\/>/g, '/>')
    .replace(/<([^\s/<>]+)([^<>]*)><\/\1\s*>/g, '<$1$2/>')
    .replace(/(?<=>)[^<]+(?=<)/g, (text) => escaped(unescaped(text)))
    .trim()

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi, (whole, decimal?: string, hexadecimal?: string, name = '') => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
    return entities[String(name)] ?? whole
  })

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Asserts a response of the XML interface with these elements. */
export function expectXml(answer: Answer, elements: string | RegExp, status = 200): string {
  const text = xmlText(answer, status)
  if (typeof elements === 'string') strictEqual(text, elements)
  else match(text, elements)
  return text
}

/** Asserts a response whose root contains one `Error`. */
export const expectXmlError = (answer: Answer, root: string, error: string, status = 200): string =>
  expectXml(answer, `<${root}><Error>${error}</Error></${root}>`, status)

export const expectEqual: (got: unknown, expected: unknown, message?: string) => void = deepStrictEqual
