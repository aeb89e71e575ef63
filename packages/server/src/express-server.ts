import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Express } from 'express'
import { ByteCollector } from './byte-collector.ts'

/**
 * An HTTP server without listeners. For an Express app it constructs requests and responses with the app's own prototypes. Express
 * sets these on every request; a changed prototype makes Node's own code slow (docs/decisions/0036-express-with-its-own-prototypes.md).
 * A body in pieces costs no more than one in a block (docs/decisions/0056-bodies-in-pieces.md); where it comes in too many small chunks,
 * `clientError` is emitted with the code `tooManyChunks`.
 */
export const createServerFor = (app: RequestListener, options: ServerOptions): Server => {
  const Request = compactRequest((socket) => {
    const error = Object.assign(new Error('the body comes in too many small chunks'), { code: tooManyChunks })
    server.emit('clientError', error, socket)
  })
  const server = createServer({ ...options, IncomingMessage: Request, ...(isExpress(app) && prototypes(app, Request)) })
  return server
}

export const tooManyChunks = 'ERR_TOO_MANY_CHUNKS'

export const isExpress = (app: RequestListener): app is Express => 'request' in app && 'response' in app

/** The prototypes of these classes replace `app.request` and `app.response` and inherit from them. */
const prototypes = (app: Express, Request: typeof IncomingMessage) => {
  class Response<For extends IncomingMessage = IncomingMessage> extends ServerResponse<For> {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request) as Express['request']
  app.response = Object.setPrototypeOf(Response.prototype, app.response) as Express['response']
  return { ServerResponse: Response }
}

/** Each chunk costs node 3 µs, whatever its size. Lines of a document in a chunk each pass, however many. */
const chunksMax = (bytes: number): number => 200 + bytes / 24

/**
 * Requests whose bodies wait in one block until they are read, and of which no more waits than one read of the connection brought
 * (64 kB). Node keeps chunks as they came: of chunks of one byte, 65 kB need some 20 MB.
 */
const compactRequest = (refuse: (socket: Socket) => void) => {
  class Request extends IncomingMessage {
    declare private pieces: Pieces | undefined

    /** Node stops reading from the connection if this is false, and goes on when the body is asked for. */
    override push(chunk: Buffer | null): boolean {
      // Nearly every body comes in one piece; to keep account of it too costs 9 of 58 µs of node for a REST send.
      if (this.pieces === undefined && (chunk === null || this.isWhole(chunk))) return super.push(chunk)
      const pieces = (this.pieces ??= this.beginPieces())
      if (pieces.isRefused) return false
      if (chunk !== null && isOneTooMany(pieces, chunk) && this.headers['transfer-encoding'] !== undefined) {
        pieces.isRefused = true
        ignoreBody(this.socket)
        process.nextTick(() => refuse(this.socket))
        return false
      }
      if (chunk === null || (this.readableFlowing === true && pieces.arrived === undefined)) {
        this.pushArrived(pieces)
        return super.push(chunk)
      }
      if (pieces.arrived === undefined) {
        pieces.arrived = new ByteCollector()
        setImmediate(() => this.pushArrived(pieces))
      }
      pieces.arrived.add(chunk)
      return false
    }

    private isWhole({ length }: Buffer): boolean {
      return this.headers['content-length'] === String(length)
    }

    private beginPieces(): Pieces {
      Object.assign(Reflect.get(this, '_readableState') as object, { highWaterMark: 1 })
      return { arrived: undefined, chunks: 0, bytes: 0, isRefused: false }
    }

    private pushArrived(pieces: Pieces): void {
      if (pieces.arrived === undefined) return
      const bytes = pieces.arrived.take()
      pieces.arrived = undefined
      super.push(bytes)
    }
  }
  return Request
}

/** Of a body that does not come whole at once. */
interface Pieces {
  arrived: ByteCollector | undefined
  chunks: number
  bytes: number
  isRefused: boolean
}

function isOneTooMany(pieces: Pieces, { length }: Buffer): boolean {
  pieces.chunks++
  pieces.bytes += length
  return pieces.chunks > chunksMax(pieces.bytes)
}

/** What still comes on this connection, until it is closed, costs a tenth if node's parser tells it to nobody. Node uses its parsers again. */
function ignoreBody(socket: Socket): void {
  const parser = Reflect.get(socket, 'parser') as Record<string, unknown> | null
  const [place, listener] = Object.entries(parser ?? {}).find(([, value]) => isBodyListener(value)) ?? []
  if (parser === null || place === undefined) return
  parser[place] = undefined
  socket.once('close', () => (parser[place] = listener))
}

const isBodyListener = (value: unknown): boolean => typeof value === 'function' && value.name === 'parserOnBody'
