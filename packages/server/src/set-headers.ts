import type { ServerResponse } from 'node:http'

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
