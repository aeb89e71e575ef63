import { connect } from 'node:net'

export interface Answer {
  readonly status: number
  readonly body: string
}

/** Keep-alive connection with one request at a time, designed to use as little CPU as possible. */
export interface HttpConnection {
  /** Rejects if the connection breaks. */
  ask(request: Buffer): Promise<Answer>
  close(): void
}

const headEnd = Buffer.from('\r\n\r\n')

export function openHttpConnection(url: string): Promise<HttpConnection> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
    let chunks: Buffer[] = []
    let length = 0
    let expected: number | undefined

    function fail(error: Error): void {
      reject(error)
      waiting?.reject(error)
      waiting = undefined
    }

    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (expected !== undefined && length < expected) return
      const all = chunks.length === 1 ? chunk : Buffer.concat(chunks)
      chunks = [all]
      const end = all.indexOf(headEnd)
      if (end < 0) return
      const head = all.toString('latin1', 0, end)
      const body = end + headEnd.length
      const stated = /^content-length: *(\d+)/im.exec(head)?.[1]
      if (stated === undefined) {
        if (!all.subarray(-7).includes('0\r\n\r\n')) return
      } else {
        expected = body + Number(stated)
        if (length < expected) return
      }
      chunks = []
      length = 0
      expected = undefined
      const answered = waiting
      waiting = undefined
      const text = all.toString('latin1', body)
      answered?.resolve({ status: Number(head.slice(9, 12)), body: stated === undefined ? unchunked(text) : text })
    })
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the server closed the connection')))
    socket.on('connect', () =>
      resolve({
        ask: (request) =>
          new Promise((resolveAnswer, rejectAnswer) => {
            waiting = { resolve: resolveAnswer, reject: rejectAnswer }
            socket.write(request)
          }),
        close: () => socket.destroy(),
      }),
    )
  })
}

function unchunked(text: string): string {
  let body = ''
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = parseInt(text.slice(at, lineEnd), 16)
    if (!(size > 0)) return body
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
  }
}
