import { parseJson, scalarText } from '../description/json.ts'

/** Request of a provider as it arrived. */
export interface CallbackRequest {
  readonly method: string
  /** URL that the provider called: PUBLIC_URL with the path and query of the request. The Host header is not used. */
  readonly url: string
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Body as its bytes arrived. */
  readonly body: Uint8Array
}

export const bodyText = ({ body }: CallbackRequest): string => Buffer.from(body).toString('utf8')

const contentType = ({ headers }: CallbackRequest): string => (headers['content-type'] ?? '').toLowerCase()

/** Names and values of the form in the body, or nothing if the body is not a form. */
export const formOf = (request: CallbackRequest): URLSearchParams =>
  new URLSearchParams(contentType(request).includes('form-urlencoded') ? bodyText(request) : '')

/**
 * Returns the document of a callback: its JSON, or an object with the fields of its query and form. Undefined if the
 * body cannot be read.
 */
export function documentOf(request: CallbackRequest): unknown {
  const text = bodyText(request)
  const isForm = contentType(request).includes('form-urlencoded')
  if (!isForm && text.trim() !== '') return parseJson(text)
  return Object.fromEntries([...new URL(request.url).searchParams, ...formOf(request)])
}

/** Returns the value of the header or field that a description names as `header:name` or `field:name`. */
export function carriedText(request: CallbackRequest, place: string): string | undefined {
  const name = place.slice(place.indexOf(':') + 1)
  if (place.startsWith('header:')) return request.headers[name]
  const document = documentOf(request)
  return typeof document === 'object' && document !== null && Object.hasOwn(document, name)
    ? scalarText((document as Readonly<Record<string, unknown>>)[name])
    : undefined
}
