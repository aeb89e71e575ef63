import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { setTimeout as delay } from 'node:timers/promises'
import { readAnswer, type Answer } from './read-answer.ts'

export interface Bytes {
  /** Written as they are, one after the other, each as a segment of its own. */
  readonly pieces: readonly Buffer[]
  /** Whether the answer has no body, whatever its headers say (HEAD). */
  readonly headOnly?: boolean
}

const answerSecondsMax = 30
const betweenPiecesMs = 5

/**
 * Writes a request byte for byte over a connection of its own, and reads its answer. Throws if there is none, or one that is no HTTP,
 * within 30 s.
 */
export async function exchange(base: URL, { pieces, headOnly = false }: Bytes): Promise<Answer> {
  const socket = open(base)
  try {
    const answered = answerOn(socket, headOnly)
    const written = write(socket, pieces)
    // A server may answer before it has read all.
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
    const timer = setTimeout(
      () => reject(new Error(`no whole answer within ${answerSecondsMax} s`)),
      answerSecondsMax * 1000,
    )
    const end = (result: () => void): void => {
      clearTimeout(timer)
      result()
    }
    const look = (ended: boolean): void => {
      try {
        const answer = readAnswer(received, { ended, headOnly })
        if (answer !== undefined) end(() => resolve(answer))
        else if (ended) end(() => reject(new Error(`the connection ended after ${received.length} bytes of an answer`)))
      } catch (problem) {
        end(() => reject(problem instanceof Error ? problem : new Error('no answer of HTTP')))
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
