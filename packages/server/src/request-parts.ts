import type { IncomingMessage } from 'node:http'

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
 * The path of a request for a log line: without the host of an absolute URL, and only up to the first character that no path of ours
 * has, or up to a file name. Credentials may follow both: in a query, in one that was escaped (`%3F`, `%23`), or as if they were paths.
 */
export const pathOf = (request: IncomingMessage & { originalUrl?: string }): string => {
  const url = request.originalUrl ?? request.url ?? ''
  const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').slice(0, pathMax)
  const [known = ''] = /^\*|^[\w/.~-]*/.exec(path) ?? []
  return known.replace(/(\.\w+)\/.*$/, '$1')
}
