import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Certificate } from './self-signed.ts'

/** How a receiver answers a request or treats a connection. */
export type ReceiverMode =
  | 'ok'
  | 'error'
  | 'slow-headers'
  | 'slow-body'
  | 'redirect'
  | 'endless-body'
  | 'endless-headers'
  | 'endless-hints'
  | 'gzip-bomb'
  | 'gone'
  | 'close'
  | 'close-in-body'
  | 'throttled'
  | 'no-http'
  | 'unasked-upgrade'
  | 'unasked-continue'
  | 'continue-in-pieces'
  | 'silent-connection'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ReceiverSettings {
  readonly mode?: ReceiverMode
  readonly tls?: Certificate
  /** Chooses the mode of each request, in place of `mode`. */
  readonly modeOf?: () => ReceiverMode
  /** Called with each request after its body has arrived. */
  readonly onRequest?: (received: Received) => void
}

/** Webhook receiver on 127.0.0.1. */
export interface Receiver {
  readonly url: string
  readonly port: number
  mode: ReceiverMode
  /** Number of connections made so far, and of those still open. */
  readonly connections: { made: number; open: number }
  /** Number of body bytes written so far. */
  readonly sent: { bytes: number }
  close(): Promise<void>
}

/** Target of `redirect`. The client must never request it. */
export const redirectPath = '/elsewhere'

/** One megabyte of zeros, gzipped to a kilobyte. Several of them can be concatenated. */
const bomb = gzipSync(Buffer.alloc(1024 * 1024))

const plainChunk = Buffer.alloc(64 * 1024, 'x')

export async function startReceiver(settings: ReceiverSettings = {}): Promise<Receiver> {
  const connections = { made: 0, open: 0 }
  const sent = { bytes: 0 }
  const sockets = new Set<Socket>()
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      settings.onRequest?.({ method, path: url, headers: headers as Record<string, string>, body })
      answers[settings.modeOf?.() ?? receiver.mode](response, sent)
    })
  }
  const server = settings.tls ? createSecure(settings.tls, answer) : createPlain(answer)
  server.on('connection', (socket: Socket) => {
    connections.made += 1
    connections.open += 1
    sockets.add(socket)
    socket
      .on('error', () => undefined)
      .on('close', () => {
        connections.open -= 1
        sockets.delete(socket)
      })
    if (receiver.mode === 'silent-connection') socket.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `${settings.tls ? 'https' : 'http'}://127.0.0.1:${port}/hook?a=b`,
    port,
    mode: settings.mode ?? 'ok',
    connections,
    sent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return receiver
}

type Answer = (response: ServerResponse, sent: { bytes: number }) => unknown

const answers: Readonly<Record<ReceiverMode, Answer>> = {
  ok: (response) => response.end('thanks'),
  error: (response) => response.writeHead(500).end('out of order\0\u001b[31m'),
  gone: (response) => response.writeHead(410).end(),
  redirect: (response) => response.writeHead(307, { location: redirectPath }).end(),
  throttled: (response) => response.writeHead(429, { 'retry-after': '120' }).end('later'),
  'slow-headers': () => undefined,
  'silent-connection': () => undefined,
  'slow-body': (response) => {
    response.writeHead(200).write('one')
    repeat(response, () => response.write('.'), 20)
  },
  'endless-body': (response, sent) => fill(response.writeHead(200), plainChunk, sent),
  'gzip-bomb': (response, sent) => fill(response.writeHead(200, { 'content-encoding': 'gzip' }), bomb, sent),
  'endless-headers': (response) => {
    response.socket?.write('HTTP/1.1 200 OK\r\n')
    repeat(response, () => response.socket?.write(`x-${'a'.repeat(1000)}: b\r\n`), 1)
  },
  'endless-hints': (response) =>
    repeat(response, () => response.socket?.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), 1),
  'unasked-upgrade': ({ socket }) =>
    socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  'unasked-continue': (response) => {
    response.socket?.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\nx: y\r\n\r\n')
    response.end('thanks')
  },
  'continue-in-pieces': (response) => {
    const pieces = ['H', 'TTP/1.1 100 Con', 'tinue\r\n\r', '\n', 'HTTP/1.1 2', '04 No Content\r\n\r\n']
    response.socket?.setNoDelay(true)
    const timer = setInterval(() => {
      response.socket?.write(pieces.shift() ?? '')
      if (pieces.length === 0) clearInterval(timer)
    }, 5)
  },
  'no-http': ({ socket }) => socket?.end('220 mail.example ESMTP\r\n'),
  close: ({ socket }) => socket?.destroy(),
  'close-in-body': (response) =>
    response.writeHead(200, { 'content-length': 1000 }).write('part', () => response.socket?.destroy()),
}

function repeat(response: ServerResponse, write: () => unknown, milliseconds: number): void {
  const timer = setInterval(write, milliseconds)
  response.on('close', () => clearInterval(timer))
}

/** Writes `chunk` repeatedly, as fast as the client reads. */
function fill(response: ServerResponse, chunk: Buffer, sent: { bytes: number }): void {
  const write = (): void => {
    while (!response.destroyed) {
      sent.bytes += chunk.length
      if (!response.write(chunk)) return
    }
  }
  response.on('drain', write)
  write()
}
