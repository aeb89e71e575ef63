import { scalarText } from '../description/json.ts'
import { carriedText, documentOf, formOf, type CallbackRequest } from './callback-request.ts'

type Piece = (request: CallbackRequest, signatureField: string | undefined) => string | Uint8Array

/** Pieces that a signature can cover, by the names that descriptions use. */
const pieces: Readonly<Record<string, Piece>> = {
  url: ({ url }) => url,
  'url:sorted': sortedUrl,
  body: ({ body }) => body,
  'form:concat': (request) => [...new Set(sortedPairs(formOf(request)).map(([name, value]) => name + value))].join(''),
  params: sortedParameters,
}

/** Returns the bytes that a signature covers. */
export const signedBytes = (request: CallbackRequest, over: readonly string[], at: string | undefined): Uint8Array =>
  Buffer.concat(over.map((name) => Buffer.from(pieceOf(name, request, at))))

function pieceOf(name: string, request: CallbackRequest, at: string | undefined): string | Uint8Array {
  const piece = Object.hasOwn(pieces, name) ? pieces[name] : undefined
  if (piece !== undefined) return piece(request, at?.startsWith('field:') === true ? at.slice(6) : undefined)
  return /^(?:header|field):/.test(name) ? (carriedText(request, name) ?? '') : name
}

/** Returns names and values sorted by name, then by value, in the order of their code units. */
const sortedPairs = (parameters: Iterable<readonly [string, string]>): readonly (readonly [string, string])[] =>
  [...parameters].toSorted(([one, a], [other, b]) => compare(one, other) || compare(a, b))

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/**
 * Returns the URL with sorted parameters, as Plivo signs it. A point follows if the callback has both a query and a
 * body.
 */
function sortedUrl({ url, method, body }: CallbackRequest): string {
  const { origin, pathname, searchParams } = new URL(url)
  const query = sortedPairs(searchParams)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  const hasBody = method === 'POST' && body.length > 0
  const mark = query !== '' || hasBody ? '?' : ''
  return `${origin}${pathname}${mark}${query}${query !== '' && hasBody ? '.' : ''}`
}

/** Returns all fields of the callback except the signature itself, sorted, each as `&name=value`. */
function sortedParameters(request: CallbackRequest, signatureField: string | undefined): string {
  const document = documentOf(request)
  if (typeof document !== 'object' || document === null) return ''
  const texts = Object.entries(document).map(([name, value]): [string, string] => [name, scalarText(value) ?? ''])
  return sortedPairs(texts.filter(([name]) => name !== signatureField))
    .map(([name, value]) => `&${name}=${value}`)
    .join('')
}
