import type { Clock, Instant } from '@gateway/core/time'
import { isRestPath, restNotFound, restRefusal } from './rest-envelope.ts'

/** Interface that owns a path, even if the answering process does not serve the interface (rulings 1.31, 3.8). */
export type InterfaceName = 'rest' | 'query-string' | 'xml'

/**
 * Returns the interface that owns a path, or undefined outside `/api`. Only the paths of REST are case-sensitive
 * (ruling 4.1).
 */
export function interfaceOf(path: string): InterfaceName | undefined {
  if (isRestPath(path)) return 'rest'
  if (/^\/api\/xml[^/]*\.asp$/i.test(path)) return 'xml'
  return /^\/api(?:\/|$)/i.test(path) ? 'query-string' : undefined
}

/**
 * Root element of the answer of each XML operation. The keys are the last parts of the paths in lower case (spec 7.3).
 */
export const XML_ROOT = {
  xmlsendsmsmulti: 'XMLGateway_Response',
  xmlgetstatus: 'XMLGatewayStatus_Response',
  xmldeletescheduled: 'XMLGatewayDeleteScheduled_Response',
  xmlgetreplies: 'XMLGateway_Replies',
  xmlgetscmessages: 'XMLGateway_SCmessages',
} as const

const roots: ReadonlyMap<string, string> = new Map(Object.entries(XML_ROOT))

const xmlDocument = (path: string, reason: string): string => {
  const name = path
    .replace(/^.*\//, '')
    .replace(/\.asp$/i, '')
    .toLowerCase()
  const root = roots.get(name) ?? XML_ROOT.xmlsendsmsmulti
  const text = reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<?xml version="1.0" encoding="utf-8"?><${root}><Error>${text}</Error></${root}>`
}

interface Refused {
  readonly status: number
  readonly reason: string
  readonly path: string
}

const plain = 'text/plain; charset=utf-8'

/** Returns the answer 404 to a path of an interface that the process does not serve (ruling 3.8). */
export const notFoundElsewhere = (path: string, now: Instant) =>
  isRestPath(path) ? restNotFound(now) : { status: 404, contentType: plain, headers: {}, body: 'Not found' }

/**
 * Returns the answer to a request that was refused at the HTTP level, in a process that does not serve the interface of
 * the path. The answer has the form of that interface (ruling 1.31), or is plain text outside `/api`. For the process
 * every path of that interface is unknown, so an unknown method is answered 404 (ruling 2.3).
 */
export function refusalElsewhere({ status, reason, path }: Refused, now: Instant) {
  const interfaceName = interfaceOf(path)
  if (interfaceName === 'rest') return restRefusal({ status, reason }, now)
  if (interfaceName !== undefined && status === 405) return notFoundElsewhere(path, now)
  const headers = status === 503 ? { 'Retry-After': '1' } : {}
  if (interfaceName === 'xml')
    return { status, contentType: 'text/xml; charset=utf-8', headers, body: xmlDocument(path, reason) }
  return { status, contentType: plain, headers, body: interfaceName === undefined ? reason : `Error="${reason}"` }
}

/**
 * Returns the function that answers requests refused at the HTTP level, for a server that serves no interface of a
 * path.
 */
export const refusalsElsewhere = (clock: Clock) => (refused: Refused) => refusalElsewhere(refused, clock.now())
