import type { ServerResponse } from 'node:http'

/**
 * Ends an answer that is whole, with its length. Node adds that by itself for HTTP/1.1 only: a client of HTTP/1.0 could not tell a
 * whole answer from one that was broken off (ruling 3.2).
 */
export const endResponse = (response: ServerResponse, body: string): void => {
  if (response.req.httpVersion === '1.0') response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body)
}
