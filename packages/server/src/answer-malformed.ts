import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { RefusalPace } from './admission/turns.ts'
import { networkOf } from './client-address.ts'
import { type Connections, stopReading } from './connections.ts'
import { tooManyChunks } from './express-app.ts'
import type { Log } from './log.ts'
import { identify, newRequestId, requestIdHeader, requestTarget } from './request-parts.ts'
import { endResponse, setHeaders, type WholeAnswer } from './write-response.ts'

/**
 * Request that cannot be served as HTTP, with the status of its answer (400, 408, 413, 417 or 431) and the reason. The
 * status is 405 for a method that HTTP does not have.
 */
export interface Malformed {
  readonly status: number
  readonly reason: string
  /** Method of the request line. Empty if it is not known. */
  readonly method: string
  readonly path: string
}

export type MalformedAnswer = WholeAnswer

/** Returns the answer in the form of the interface that the path belongs to. */
export type DescribeMalformed = (malformed: Malformed) => MalformedAnswer

/** Returns the reason as one line of plain text. */
export const malformedInText: DescribeMalformed = ({ status, reason }) => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: reason,
  headers: status === 503 ? { 'Retry-After': '1' } : {},
})

const refusals: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_INVALID_METHOD: [405, 'This method does not exist.'],
  HPE_HEADER_OVERFLOW: [431, 'The request line and the headers have more than 65536 bytes.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The extensions of a chunk are too long.'],
  [tooManyChunks]: [400, 'The body comes in too many small chunks.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
}
const lingerMs = 1000

interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

interface MalformedSettings {
  readonly connections: Pick<Connections, 'endMalformed' | 'readNetworkInTurn' | 'unfinished'>
  readonly log: Log
  readonly describe: DescribeMalformed
  /** Rate limit on refusals of bodies that arrive in too many small chunks. */
  readonly pace: RefusalPace
}

/**
 * Handles `clientError`: answers a request that the parser of Node refuses, and closes the connection. If complete
 * requests arrived before it, answers only those. Writes nothing if the client would read the answer as a part of
 * another answer, or as the answer to its next request.
 */
export const answerMalformed = ({ connections, log, describe, pace }: MalformedSettings) => {
  const refused = new WeakSet<Duplex>()

  function answer(error: ParserError, socket: Duplex, id: string): void {
    const { code } = error
    const unfinished = connections.unfinished(socket)
    const state = code === 'ECONNRESET' || !socket.writable ? 'broken' : connections.endMalformed(socket)
    if (state === 'broken') return void socket.destroy()
    if (state === 'owed') return
    socket.end(written(describe(malformedOf(error, unfinished)), id))
    // Closing while the client still sends resets the connection, and the client may never read the response.
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }

  return (error: ParserError, socket: Duplex): void => {
    if (refused.has(socket)) return
    refused.add(socket)
    const { code = '' } = error
    const id = newRequestId()
    log.debug({ request: { id }, code }, 'malformed request')
    if (code === tooManyChunks) {
      stopReading(socket)
      connections.readNetworkInTurn(socket)
    }
    const turn = code === tooManyChunks ? pace.turn(networkOf((socket as Socket).remoteAddress ?? '')) : undefined
    if (turn === undefined) answer(error, socket, id)
    else void turn.then(() => answer(error, socket, id))
  }
}

/** Returns a function that builds the complete answer for a connection from which no request is read. */
export const refusedUnread =
  (describe: DescribeMalformed) =>
  (status: number, reason: string): string =>
    written(describe({ status, reason, method: '', path: '' }), newRequestId())

/** Answers a request that is refused before an app sees it, and closes its connection. */
export const answerRefused =
  (describe: DescribeMalformed) =>
  (response: ServerResponse, status: number, reason: string): void => {
    const { method = '', url = '' } = response.req
    const { status: answered, contentType, body, headers } = describe({ status, reason, method, path: pathOf(url) })
    identify(response)
    setHeaders(response, answered, contentType, {
      'X-Content-Type-Options': 'nosniff',
      ...headers,
      Connection: 'close',
    })
    endResponse(response, body)
  }

/** Describes the refused request. `unfinished` is the request whose body cannot be read, if its head was complete. */
function malformedOf(error: ParserError, unfinished: IncomingMessage | undefined): Malformed {
  const { code = '' } = error
  if (unfinished === undefined) return malformedHead(error)
  const [status, reason] = refusals[code] ?? [400, 'The request cannot be read.']
  return { status, reason, method: unfinished.method ?? '', path: pathOf(requestTarget(unfinished)) }
}

function malformedHead({ code = '', rawPacket, bytesParsed = 0 }: ParserError): Malformed {
  const packet = rawPacket?.toString('latin1') ?? ''
  // The refused request begins after the previous head, if both came in the same packet.
  const head = packet.lastIndexOf('\r\n\r\n', bytesParsed - 1)
  const line = packet.slice(head === -1 ? 0 : head + 4).split(/[\r\n]/, 1)[0] ?? ''
  const [, method = '', target = ''] = /^([!#-'*+.\w^`|~-]{1,40}) (\S*)/.exec(line) ?? []
  const [status, reason] = refusals[code] ?? [400, 'The request cannot be read.']
  const request = { method, path: pathOf(target) }
  if (status === 405 && method === '') return { status: 400, reason: 'The request cannot be read.', ...request }
  if (code === 'HPE_INVALID_URL' && /[\x80-\xff]/.test(target))
    return { status, reason: 'The request line has bytes above 127; they must be percent-encoded.', ...request }
  return { status, reason, ...request }
}

/** Returns the path of a target, without the host of an absolute target and without the query. */
const pathOf = (target: string): string => target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/, '')

function written({ status, contentType, body, headers = {} }: MalformedAnswer, id: string): string {
  const fields = {
    [requestIdHeader]: id,
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    Connection: 'close',
    'Content-Length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}
