import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** The media type of a request in lower case, without parameters; `''` if it has none. */
export const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase()

/** The query of a request, not decoded: what follows the first `?`, or `''`. */
export const requestQuery = ({ url = '' }: IncomingMessage): string => {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

const pathMax = 200

/**
 * The path of a request for a log line: without the host of an absolute URL, and only up to the first character that no
 * path of ours has, or up to a file name. Credentials may follow both: in a query, in one that was escaped (`%3F`,
 * `%23`), or as if they were paths.
 */
export const pathOf = (request: IncomingMessage & { originalUrl?: string }): string => {
  const url = request.originalUrl ?? request.url ?? ''
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').slice(0, pathMax)
  const [known = ''] = /^\*|^[\w/.~-]*/.exec(path) ?? []
  return known.replace(/(\.\w+)\/.*$/, '$1')
}

/** The path and query of a request as the client sent them, also below a prefix of Express. */
export const requestTarget = (request: IncomingMessage & { originalUrl?: string }): string =>
  request.originalUrl ?? request.url ?? ''

/** Lines of headers of one request. Node leaves out those beyond a limit of its own. */
export const headerLinesMax = 1000

/** Bytes of a request target and of the names and values of its headers (ruling 3.1). */
const headBytesMax = 65_536

/**
 * Returns why a request is refused for its head alone: its size, its version, too many header lines, or not exactly one
 * `Host` (RFC 9112, 3.2).
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

/** The header of a request and of its answer (ruling 2.16). */
export const requestIdHeader = 'X-Request-Id'

const requestId = Symbol('request id')

type Identified = IncomingMessage & { [requestId]?: string }

/** The id of a request that `identify` has seen, else undefined. */
export const requestIdOf = (request: IncomingMessage): string | undefined => (request as Identified)[requestId]

/**
 * Gives a request its id, and its answer the header: what an outer app has set, else the id of the client if it is well
 * formed, else a new one.
 */
export function identify(response: ServerResponse): void {
  const request = response.req as Identified
  const set = response.getHeader(requestIdHeader)
  const id = typeof set === 'string' ? set : (wellFormed(request.headers['x-request-id']) ?? newRequestId())
  request[requestId] = id
  if (set === undefined) response.setHeader(requestIdHeader, id)
}

/** Of several headers node makes one value with commas, which is none. */
const wellFormed = (given: string | string[] | undefined): string | undefined =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : undefined

const ofProcess = randomBytes(6).toString('hex')
let made = 0

/**
 * 48 random bits of this process, a hyphen, and how many it has made: no two are the same, whatever process makes them.
 */
export const newRequestId = (): string => `${ofProcess}-${++made}`
