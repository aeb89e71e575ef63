import type { IncomingMessage } from 'node:http'

/**
 * The path of a request as its client wrote it, nothing decoded: without query and fragment, and without the host that a
 * proxy may name in the request line. It reads a request line as Express does.
 */
export const requestPath = ({ url = '' }: IncomingMessage): string => {
  const path = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const end = path.search(/[?#]/)
  const found = end === -1 ? path : path.slice(0, end)
  return found === '' ? '/' : found
}
