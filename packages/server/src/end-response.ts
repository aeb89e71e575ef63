import type { ServerResponse } from 'node:http'

/** Longer texts leave as bytes: as text they would be copied twice more, and wait in the heap until the client has read them. */
const textLengthMax = 16_384

/**
 * Ends a response with `body` and a Content-Length. Node adds the header itself for HTTP/1.1 only; an HTTP/1.0 client could not
 * tell a whole response from a truncated one (ruling 3.2).
 */
export const endResponse = (response: ServerResponse, body: string): void => {
  if (response.req.httpVersion === '1.0') response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body.length > textLengthMax ? Buffer.from(body) : body)
}

/** Sets the status, the content type, `Cache-Control: no-store` and further headers of a response. */
export function setHeaders(
  response: ServerResponse,
  status: number,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.statusCode = status
  response.setHeader('Content-Type', contentType)
  response.setHeader('Cache-Control', 'no-store')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}
