import { connect as connectPlain, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { afterProgress } from './own-progress.ts'

/** Request that is sent byte for byte. Only `Host`, `Content-Length` and `Connection` are added. */
export interface Request {
  readonly method?: string
  /** Path with its query, below the base URL. Characters are bytes (latin1). */
  readonly target: string
  /** Headers in the letter case and order in which they are sent. A header replaces the added one of the same name. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Body. Text is sent as UTF-8. */
  readonly body?: string | Buffer | undefined
  /** Version of HTTP. `1.0` sends no `Host` and does not keep the connection open. */
  readonly version?: '1.0' | '1.1'
  /** Form of the body: at once, in several segments, or in chunks without a length. */
  readonly as?: 'whole' | 'chunked' | { readonly segments: number }
}

/** Sends one request over a new connection. */
export function ask(base: URL, request: Request): Promise<Answer> {
  return exchange(base, { pieces: piecesOf(base, request), headOnly: request.method === 'HEAD' })
}

function piecesOf(base: URL, request: Request): Buffer[] {
  const { method = 'GET', target, headers = [], version = '1.1', as = 'whole' } = request
  const body = request.body === undefined ? undefined : Buffer.from(request.body as string)
  const added: [string, string][] =
    version === '1.1'
      ? [
          ['Host', base.host],
          ['Connection', 'close'],
        ]
      : []
  if (as === 'chunked') added.push(['Transfer-Encoding', 'chunked'])
  else if (body !== undefined) added.push(['Content-Length', String(body.length)])
  const headerNames = new Set(headers.map(([name]) => name.toLowerCase()))
  const lines = [...added.filter(([name]) => !headerNames.has(name.toLowerCase())), ...headers]
  const path = `${base.pathname.replace(/\/$/, '')}${target}`
  const head = [`${method} ${path} HTTP/${version}`, ...lines.map(([name, value]) => `${name}: ${value}`), '', '']
  const bytes = Buffer.from(head.join('\r\n'), 'latin1')
  if (body === undefined) return [bytes]
  if (as === 'chunked') return [bytes, ...chunks(body)]
  return as === 'whole' ? [Buffer.concat([bytes, body])] : segments(Buffer.concat([bytes, body]), as.segments)
}

function segments(bytes: Buffer, count: number): Buffer[] {
  const size = Math.ceil(bytes.length / count)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

const chunks = (body: Buffer): Buffer[] =>
  [body, Buffer.alloc(0)].map((part) =>
    Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
  )

export interface Bytes {
  /** Parts that are written one after the other, each in a segment of its own. */
  readonly pieces: readonly Buffer[]
  /** True if the response has no body whatever its headers say (HEAD). */
  readonly headOnly?: boolean
}

const answerSecondsMax = 30
const betweenPiecesMs = 5

/**
 * Writes a request byte for byte over a new connection and reads the response. Throws if no valid HTTP response arrives
 * within 30 s.
 */
export async function exchange(base: URL, { pieces, headOnly = false }: Bytes): Promise<Answer> {
  const socket = open(base)
  try {
    const answered = answerOn(socket, headOnly)
    const written = write(socket, pieces)
    // Ignore a failed write, because a server may answer and close the connection before it has read everything.
    written.catch(() => undefined)
    return await answered
  } finally {
    socket.destroy()
  }
}

function open({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket =
    protocol === 'https:'
      ? connectTls({ host, port: Number(port || 443), servername: host, ALPNProtocols: ['http/1.1'] })
      : connectPlain({ host, port: Number(port || 80) })
  return socket.setNoDelay(true)
}

async function write(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await delay(betweenPiecesMs)
    if (socket.destroyed) return
    socket.write(piece)
  }
}

const answerOn = (socket: Socket, headOnly: boolean): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const cancel = afterProgress(answerSecondsMax, () =>
      reject(new Error(`no complete response within ${answerSecondsMax} s`)),
    )
    const end = (result: () => void): void => {
      cancel()
      result()
    }
    const look = (ended: boolean): void => {
      try {
        const answer = readAnswer(received, { ended, headOnly })
        if (answer !== undefined) end(() => resolve(answer))
        else if (ended)
          end(() => reject(new Error(`the connection ended after ${received.length} bytes of a response`)))
      } catch (problem) {
        end(() => reject(problem instanceof Error ? problem : new Error('the response is not valid HTTP')))
      }
    }
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece])
      look(false)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') end(() => reject(error))
    })
    socket.on('close', () => look(true))
  })

/** Response as received. */
export interface Answer {
  readonly status: number
  /** Version of HTTP, such as `1.1`. */
  readonly version: string
  /** Values of each header by lower-case name, in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: Buffer
  /** Body as UTF-8. */
  readonly text: string
}

interface Reading {
  /** True if the server has closed the connection. */
  readonly ended: boolean
  readonly headOnly: boolean
}

/**
 * Parses the response in these bytes. Returns undefined if more must arrive. Throws if they are not an HTTP/1 response.
 */
export function readAnswer(bytes: Buffer, reading: Reading): Answer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const [, version, code] = /^HTTP\/(1\.[01]) (\d{3})(?: .*)?$/.exec(statusLine) ?? []
  if (version === undefined) throw new Error(`not a status line of HTTP/1: ${statusLine.slice(0, 100)}`)
  const status = Number(code)
  const rest = bytes.subarray(headEnd + 4)
  if (status < 200) return readAnswer(rest, reading)
  const headers = readHeaders(lines)
  const bodiless = reading.headOnly || status === 204 || status === 304
  const body = bodiless ? rest : readBody(rest, headers, reading.ended)
  return body && { status, version, headers, body, text: body.toString('utf8') }
}

function readHeaders(lines: readonly string[]): Map<string, readonly string[]> {
  const headers = new Map<string, readonly string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new Error(`not a header: ${line.slice(0, 100)}`)
    const name = line.slice(0, colon).toLowerCase()
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()])
  }
  return headers
}

function readBody(bytes: Buffer, headers: Answer['headers'], ended: boolean): Buffer | undefined {
  if (headers.get('transfer-encoding')?.at(-1)?.toLowerCase() === 'chunked') return readChunks(bytes)
  const length = headers.get('content-length')?.[0]
  if (length === undefined) return ended ? bytes : undefined
  return bytes.length >= Number(length) ? bytes.subarray(0, Number(length)) : undefined
}

function readChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (!(size >= 0)) throw new Error('a chunk has no valid size')
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
