import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** The header of a request and of its answer (ruling 2.16). */
export const requestIdHeader = 'X-Request-Id'

const requestId = Symbol('request id')

type Identified = IncomingMessage & { [requestId]?: string }

/** The id of a request that `identify` has seen, else undefined. */
export const requestIdOf = (request: IncomingMessage): string | undefined => (request as Identified)[requestId]

/**
 * Gives a request its id, and its answer the header: what an outer app has set, else the id of the client if it is well formed, else a
 * new one.
 */
export function identify(response: ServerResponse): void {
  const request = response.req as Identified
  const set = response.getHeader(requestIdHeader)
  const id = typeof set === 'string' ? set : (wellFormed(request.headers['x-request-id']) ?? newRequestId())
  request[requestId] = id
  if (set === undefined) response.setHeader(requestIdHeader, id)
}

/** Of several headers node makes one value with commas, which is none. */
const wellFormed = (given: string | string[] | undefined): string | undefined =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : undefined

const ofProcess = randomBytes(6).toString('hex')
let made = 0

/** 48 random bits of this process, a hyphen, and how many it has made: no two are the same, whatever process makes them. */
export const newRequestId = (): string => `${ofProcess}-${++made}`
