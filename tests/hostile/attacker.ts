import { connect, type Socket } from 'node:net'

export interface Attacker {
  /** Answers by their HTTP status, so far. */
  readonly answers: ReadonlyMap<number, number>
  stop(): void
}

export interface Attack {
  readonly connections: number
  /** So many requests. */
  readonly requests?: number
  readonly text: string
  /** Writes the text again when it has been answered; else it is written once, and the connection stays as it is. */
  readonly repeats: boolean
}

/** Attacks from a network of its own, until it is told to stop. A connection that is closed is opened again. */
export function attacker(port: number, { connections, requests = 1, text, repeats }: Attack): Attacker {
  const answers = new Map<number, number>()
  const sockets = new Set<Socket>()
  const bytes = Buffer.from(text)
  let stopped = false

  function open(): void {
    if (stopped) return
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.7.1' })
    sockets.add(socket)
    let unanswered = requests
    socket.setEncoding('latin1')
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      if (repeats) setTimeout(open, 50)
    })
    socket.on('data', (piece) => {
      const statuses = Array.from(String(piece).matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status))
      for (const status of statuses) answers.set(status, (answers.get(status) ?? 0) + 1)
      unanswered -= statuses.length
      if (!repeats || unanswered > 0) return
      unanswered = requests
      socket.write(bytes)
    })
    socket.write(bytes)
  }

  for (let i = 0; i < connections; i++) open()
  return {
    answers,
    stop() {
      stopped = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

export const post = (path: string, headers: string, body: string, length = Buffer.byteLength(body)): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`
