import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Returns the media type of a request in lower case, without parameters; `''` if it has none. */
export const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase()

/** Returns the undecoded query of a request, the part after the first `?`, or `''`. */
export const requestQuery = ({ url = '' }: IncomingMessage): string => {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

const pathMax = 200

/**
 * Returns the path of a request for a log line, without the host of an absolute URL. The path is cut after a file name,
 * or before the first character that no path of ours has, because credentials may follow there: in a query, in an
 * escaped query (`%3F`, `%23`), or written as a path. The path of a carrier's callbacks is cut after the carrier's
 * name, because a secret follows it.
 */
export const pathOf = (request: IncomingMessage & { originalUrl?: string }): string => {
  const url = request.originalUrl ?? request.url ?? ''
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').slice(0, pathMax)
  const [known = ''] = /^\*|^[\w/.~-]*/.exec(path) ?? []
  return known.replace(/(\.\w+)\/.*$/, '$1').replace(/(\/carriers\/[^/]+\/).+$/, '$1…')
}

/** Returns the path and query of a request as the client sent them, even if Express has removed a prefix from `url`. */
export const requestTarget = (request: IncomingMessage & { originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? ''

/** Maximum number of header lines of a request. Node has a limit of its own, beyond which it drops lines. */
export const headerLinesMax = 1000

/** Maximum size of a request target with the names and values of its headers, in bytes (ruling 3.1). */
const headBytesMax = 65_536

/**
 * Returns the status and reason with which a request is refused because of its head, or undefined if it is not. Causes
 * are the head's size, the HTTP version, too many header lines, and not exactly one `Host` (RFC 9112, 3.2).
 */
export function refusedHead(request: IncomingMessage): readonly [status: 400 | 431, reason: string] | undefined {
  const { rawHeaders, httpVersion, url = '' } = request
  if (rawHeaders.length > 2 * headerLinesMax) return [431, `The request has more than ${headerLinesMax} header lines.`]
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return [400, 'The version of HTTP must be 1.1 or 1.0.']
  let hosts = 0
  let bytes = url.length
  for (const part of rawHeaders) bytes += part.length
  if (bytes >= headBytesMax) return [431, `The request line and the headers have more than ${headBytesMax} bytes.`]
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++
  if (hosts > 1) return [400, 'The request has more than one Host header.']
  if (hosts === 0 && httpVersion === '1.1') return [400, 'The request has no Host header.']
  return undefined
}

/** Header with the id of a request, in the request and in its answer (ruling 2.16). */
export const requestIdHeader = 'X-Request-Id'

const requestId = Symbol('request id')

type Identified = IncomingMessage & { [requestId]?: string }

/** Returns the id of a request, or undefined if `identify` has not seen it. */
export const requestIdOf = (request: IncomingMessage): string | undefined => (request as Identified)[requestId]

/**
 * Sets the id of a request and the header of its answer: the id that an outer app has set, else the id of the client if
 * it is well formed, else a new one.
 */
export function identify(response: ServerResponse): void {
  const request = response.req as Identified
  const set = response.getHeader(requestIdHeader)
  const id = typeof set === 'string' ? set : (wellFormed(request.headers['x-request-id']) ?? newRequestId())
  request[requestId] = id
  if (set === undefined) response.setHeader(requestIdHeader, id)
}

/**
 * Returns an id that is well formed, else undefined. Node joins several headers with commas, which is not well formed.
 */
const wellFormed = (id: string | string[] | undefined): string | undefined =>
  typeof id === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(id) ? id : undefined

const ofProcess = randomBytes(6).toString('hex')
let made = 0

/**
 * Returns an id that is unique over all processes: 48 random bits of this process, a hyphen, and a counter.
 */
export const newRequestId = (): string => `${ofProcess}-${++made}`
