import type { ServerResponse } from 'node:http'

/**
 * Ends a response with `body` and a Content-Length. Node adds the header itself for HTTP/1.1 only; an HTTP/1.0 client could not
 * tell a whole response from a truncated one (ruling 3.2).
 */
export const endResponse = (response: ServerResponse, body: string): void => {
  if (response.req.httpVersion === '1.0') response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body)
}
