import type { IncomingMessage } from 'node:http'

/** Lines of headers of one request. Node leaves out those beyond a limit of its own. */
export const headerLinesMax = 1000

/** Why a request is refused for its head alone: its version, too many header lines, or not one `Host` (RFC 9112, 3.2). */
export function refusedHead(request: IncomingMessage): readonly [status: 400 | 431, reason: string] | undefined {
  const { rawHeaders, httpVersion } = request
  if (rawHeaders.length > 2 * headerLinesMax) return [431, `The request has more than ${headerLinesMax} header lines.`]
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return [400, 'The version of HTTP must be 1.1 or 1.0.']
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++
  if (hosts > 1) return [400, 'The request has more than one Host header.']
  if (hosts === 0 && httpVersion === '1.1') return [400, 'The request has no Host header.']
  return undefined
}
