/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  /** As `1.1`. */
  readonly version: string
  /** By lower-case name, each value that was given. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly body: Buffer
  /** The body as UTF-8. */
  readonly text: string
}

interface Reading {
  /** Whether the server has closed the connection. */
  readonly ended: boolean
  readonly headOnly: boolean
}

/** The answer in these bytes; undefined if more must come. Throws if they are no answer of HTTP/1. */
export function readAnswer(bytes: Buffer, reading: Reading): Answer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const [, version, code] = /^HTTP\/(1\.[01]) (\d{3})(?: .*)?$/.exec(statusLine) ?? []
  if (version === undefined) throw new Error(`no status line of HTTP/1: ${statusLine.slice(0, 100)}`)
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
    if (colon < 1) throw new Error(`no header: ${line.slice(0, 100)}`)
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
    if (!(size >= 0)) throw new Error('no size of a chunk')
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
