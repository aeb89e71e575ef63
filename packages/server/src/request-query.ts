import type { IncomingMessage } from 'node:http'

/** The query of a request as its client wrote it, nothing decoded: what follows the first `?`, or `''`. */
export const requestQuery = ({ url = '' }: IncomingMessage): string => {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}
