import type { IncomingMessage } from 'node:http'

/** The media type of a request in lower case, without parameters; `''` if it has none. */
export const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase()

/** The query of a request, not decoded: what follows the first `?`, or `''`. */
export const requestQuery = ({ url = '' }: IncomingMessage): string => {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

const PATH_MAX = 200

/**
 * The path of a request for a log line: without the query, even one that follows `%3F`, `;`, `&` or `#` (queries of the
 * query-string interface contain credentials), without the host of an absolute URL, at most 200 characters.
 */
export const pathOf = (request: IncomingMessage & { originalUrl?: string }): string => {
  const url = request.originalUrl ?? request.url ?? ''
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#;&]|%3f|%26|%3b/i)
  return (end === -1 ? path : path.slice(0, end)).slice(0, PATH_MAX)
}
