import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from './log.ts'

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}
const LINGER_MS = 1000

/**
 * Handles `clientError`: answers 400, 431 (headers too long), 413 or 408 (incomplete request) and closes the connection.
 * Answers nothing while another response is under way on that connection: a client would read the two as one.
 */
export const answerMalformed = (inFlight: ReadonlySet<ServerResponse>, log: Log) => {
  const refused = new WeakSet<Duplex>()
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (refused.has(socket)) return
    refused.add(socket)
    const code = error.code ?? ''
    log.debug({ code }, 'malformed request')
    if (code === 'ECONNRESET' || !socket.writable || answerUnderWay(inFlight, socket)) return void socket.destroy()
    socket.end(`HTTP/1.1 ${STATUS[code] ?? '400 Bad Request'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    // Closing while the client still sends resets the connection, and the client may never read the response.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}

const answerUnderWay = (inFlight: ReadonlySet<ServerResponse>, socket: Duplex | Socket): boolean => {
  const here = [...inFlight].filter((response) => response.req.socket === socket)
  return here.length > 1 || here.some((response) => response.headersSent)
}
