import { connect, type Socket } from 'node:net'

export interface Answer {
  /** HTTP status; 0 if the connection was closed before a complete answer arrived. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly milliseconds: number
}

/** Connection that sends one request after another. It is reopened whenever the server has closed it. */
export interface Connection {
  ask(bytes: Buffer, isHead: boolean): Promise<Answer>
  close(): void
}

const silenceMs = 30_000

export function openConnection(port: number): Connection {
  let socket: Socket | undefined

  const once = (bytes: Buffer, isHead: boolean): Promise<Answer> =>
    new Promise((resolve) => {
      const begun = performance.now()
      const used = (socket ??= connect(port, '127.0.0.1').setNoDelay())
      let received: Buffer = Buffer.alloc(0)
      const finish = (answer: Omit<Answer, 'milliseconds'>, isOpen: boolean) => {
        used.removeAllListeners()
        used.on('error', () => undefined)
        if (!isOpen || answer.headers['connection'] === 'close') {
          used.destroy()
          socket = undefined
        }
        resolve({ ...answer, milliseconds: performance.now() - begun })
      }
      const closed = () =>
        finish(readAnswer(received, isHead, true) ?? { status: 0, headers: {}, body: received.toString() }, false)
      used.on('data', (piece: Buffer) => {
        received = received.length === 0 ? piece : Buffer.concat([received, piece])
        const answer = readAnswer(received, isHead, false)
        if (answer !== undefined) finish(answer, true)
      })
      used.on('error', () => undefined)
      used.on('close', closed)
      used.setTimeout(silenceMs, closed)
      used.write(bytes)
    })

  return {
    ask: async (bytes, isHead) => {
      const wasUsed = socket !== undefined
      const answer = await once(bytes, isHead)
      // The server may have closed the connection after its last answer, so the request is sent once more over a new
      // one.
      return answer.status === 0 && answer.body === '' && wasUsed ? once(bytes, isHead) : answer
    },
    close: () => socket?.destroy(),
  }
}

/** Returns undefined if the answer is incomplete. */
export function readAnswer(
  received: Buffer,
  isHead: boolean,
  hasEnded: boolean,
): Omit<Answer, 'milliseconds'> | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const status = Number(first.split(' ')[1])
  const rest = received.subarray(end + 4)
  if (isHead || status === 204 || status === 304) return { status, headers, body: '' }
  const length = headers['content-length']
  if (length !== undefined)
    return rest.length < Number(length)
      ? undefined
      : { status, headers, body: rest.toString('utf8', 0, Number(length)) }
  if (headers['transfer-encoding'] !== 'chunked')
    return hasEnded ? { status, headers, body: rest.toString() } : undefined
  const body = joinChunks(rest)
  return body === undefined ? undefined : { status, headers, body }
}

function joinChunks(bytes: Buffer): string | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return undefined
    const size = parseInt(bytes.toString('latin1', at, line), 16)
    if (bytes.length < line + 2 + size + 2) return undefined
    if (size === 0) return Buffer.concat(chunks).toString()
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}
