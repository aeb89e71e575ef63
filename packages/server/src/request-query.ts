import type { IncomingMessage } from 'node:http'

/** The query of a request, not decoded: what follows the first `?`, or `''`. */
export const requestQuery = ({ url = '' }: IncomingMessage): string => {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}
