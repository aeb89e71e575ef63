import { connect, type Socket } from 'node:net'
import type { Target } from './attack.ts'

/** Number of answers so far by HTTP status or SMPP command_status, and number of closed connections. */
export const answers = new Map<string, number>()

export const count = (name: string): void => void answers.set(name, (answers.get(name) ?? 0) + 1)

interface Flood {
  readonly connections: number
  /** Number of networks from which the connections are opened. Default 1. */
  readonly networks?: number
  /**
   * Returns the text that a connection writes, for the number of the connection. The text is written at once or in
   * pieces.
   */
  readonly text: (connection: number) => string | Iterable<string>
  /**
   * Number of answers after which the text is written again. 0 means that it is never written again, and `endless` that
   * it is written again as soon as the connection accepts more data.
   */
  readonly answersToText: number | 'endless'
  /** Milliseconds between two pieces. */
  readonly pieceMs?: number
  /** True if the connections read their answers. Default true. */
  readonly reads?: boolean
}

const statusLine = /HTTP\/1\.[01] (\d{3}) /g

/** Opens this many connections, and reopens each closed one after 50 ms. */
export function flood({ port }: Pick<Target, 'port'>, flood: Flood): void {
  for (let i = 0; i < flood.connections; i++) open(port, flood, i)
}

function open(port: number, flood: Flood, connection: number): void {
  const { networks = 1, text, answersToText, pieceMs = 0, reads = true } = flood
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.${7 + (connection % networks)}.1` })
  const answersMax = answersToText === 'endless' ? 0 : answersToText
  let unanswered = answersMax
  const write = () => {
    const whole = text(connection)
    if (typeof whole === 'string') socket.write(whole)
    else writePieces(socket, whole[Symbol.iterator](), pieceMs)
  }
  socket.setEncoding('latin1')
  socket.on('error', () => undefined)
  socket.on('close', () => {
    count('closed')
    setTimeout(() => open(port, flood, connection), 50)
  })
  if (reads) {
    socket.on('data', (piece) => {
      const statuses = Array.from(String(piece).matchAll(statusLine), ([, status = '']) => status)
      for (const status of statuses) count(status)
      unanswered -= statuses.length
      if (answersMax === 0 || unanswered > 0) return
      unanswered = answersMax
      write()
    })
  }
  write()
  if (answersToText === 'endless') socket.on('drain', write)
}

function writePieces(socket: Socket, pieces: Iterator<string>, pieceMs: number): void {
  const next: IteratorResult<string, unknown> = pieces.next()
  if (next.done === true || socket.destroyed) return
  socket.write(next.value, 'latin1')
  setTimeout(() => writePieces(socket, pieces, pieceMs), pieceMs)
}
