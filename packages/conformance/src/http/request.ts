import { exchange } from './exchange.ts'
import type { Answer } from './read-answer.ts'

/** A request whose bytes are told one for one: nothing is added but `Host`, `Content-Length` and `Connection`. */
export interface Request {
  readonly method?: string
  /** The path, with its query, below the base URL. Characters are bytes (latin1). */
  readonly target: string
  /** In the letter case and order to be sent; one that is given takes the place of the one added. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Text is sent as UTF-8. */
  readonly body?: string | Buffer | undefined
  /** `1.0` has neither `Host` nor a kept connection. */
  readonly version?: '1.0' | '1.1'
  /** How the body is sent: at once, in so many segments, or in chunks without a length. */
  readonly as?: 'whole' | 'chunked' | { readonly segments: number }
}

/** Sends one request over a connection of its own. */
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
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const lines = [...added.filter(([name]) => !given.has(name.toLowerCase())), ...headers]
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
