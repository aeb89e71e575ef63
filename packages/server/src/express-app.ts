import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import { healthRoutes, type HealthSettings } from './health.ts'
import { prepareResponse, type Service } from './endpoint-handler.ts'
import { type AnswerError, onError } from './on-error.ts'
import { ByteCollector } from './request-bodies.ts'

/**
 * Returns an HTTP server without listeners. If `app` is an Express app, the server creates requests and responses with
 * the app's prototypes. Otherwise Express would set these prototypes on every request, and changing a prototype makes
 * Node's code slow (docs/decisions/0036-express-with-its-own-prototypes.md). A body in several pieces costs no more
 * than a body in one block (docs/decisions/0025-admission.md). If a body arrives in too many small chunks, the server
 * emits `clientError` with the code `tooManyChunks`.
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

/**
 * Returns the maximum number of chunks of a body with this size. A chunk of any size costs Node 3 µs. The limit is high
 * enough for a document that is sent with one line in each chunk.
 */
const chunksMax = (bytes: number): number => 200 + bytes / 24

/**
 * Returns a class of requests that collects the body in one block until it is read. Without it Node stores each chunk
 * separately, so that 65 kB in chunks of one byte need some 20 MB.
 */
const compactRequest = (refuse: (socket: Socket) => void) => {
  class Request extends IncomingMessage {
    declare private pieces: Pieces | undefined

    /** Returns false if Node must stop reading from the connection until the body is read. */
    override push(chunk: Buffer | null): boolean {
      // Nearly every body arrives in one piece. Such a body is not counted, because counting would cost 9 of the 58 µs
      // that Node needs for a REST send.
      if (this.pieces === undefined && (chunk === null || this.isWhole(chunk))) return super.push(chunk)
      const pieces = (this.pieces ??= { arrived: undefined, chunks: 0, bytes: 0, isRefused: false })
      if (pieces.isRefused) return false
      if (chunk !== null && isOneTooMany(pieces, chunk) && this.headers['transfer-encoding'] !== undefined) {
        pieces.isRefused = true
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

    private pushArrived(pieces: Pieces): void {
      if (pieces.arrived === undefined) return
      const bytes = pieces.arrived.take()
      pieces.arrived = undefined
      super.push(bytes)
    }
  }
  return Request
}

/** Pieces of a body that does not arrive at once. */
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

/**
 * Trusts the header `X-Forwarded-For` of requests from these networks. The last address in the header that is outside
 * these networks is the client's, so that addresses that a client adds itself have no effect. An app other than Express
 * uses the address of the peer.
 */
export function trustProxies(app: RequestListener, networks: readonly string[]): void {
  if (networks.length > 0 && isExpress(app)) app.set('trust proxy', [...networks])
}

/**
 * Returns an Express app that logs each request once. Paths must match exactly, queries are not parsed, no ETag is
 * sent, no proxy is trusted, and each response has `X-Content-Type-Options: nosniff`. Handlers that `mountFirst` adds
 * come first and must prepare their responses themselves, as `endpointHandler` does.
 */
export const createApp = (service: Service, mountFirst: (app: Express) => void = () => undefined): Express => {
  const app = express()
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', false)
  app.set('etag', false)
  app.disable('x-powered-by')
  // Set to production, because in other environments Express's default error handler sends the stack to the client.
  app.set('env', 'production')
  mountFirst(app)
  const begin = prepareResponse(service)
  const prepare: RequestHandler = (_request, response, next) => {
    begin(response)
    next()
  }
  const prepareFailed: ErrorRequestHandler = (error, _request, response, next) => {
    begin(response)
    next(error)
  }
  app.use(prepare, prepareFailed)
  return app
}

/**
 * Sets security headers for pages. The pages load nothing from another host. The headers do not require HTTPS, because
 * that would break local use without TLS; a TLS proxy in front may require it.
 */
export const pageHeaders = (): RequestHandler =>
  helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: {
      directives: {
        'upgrade-insecure-requests': null,
        'font-src': ["'self'", 'data:'],
        'style-src': ["'self'", "'unsafe-inline'"],
      },
    },
  })

export interface ServiceAppSettings extends Service {
  readonly health?: HealthSettings | undefined
  /** Handlers for all paths below a path or, for a pattern, below every path that matches it. */
  readonly mounted?: readonly [path: string | RegExp, ...handlers: RequestHandler[]]
  /** Handler made by `publicDocuments`. */
  readonly documents?: RequestHandler
  /** Handler for paths that no other handler answers. */
  readonly notFound: RequestHandler
  readonly answerError: AnswerError
}

/**
 * Returns the app of a process. It consists of the mounted handlers, health, metrics and optional documents, and
 * answers unknown paths and errors.
 */
export function createServiceApp(settings: ServiceAppSettings): Express {
  const { log, metrics, health, mounted, documents, notFound, answerError } = settings
  // These handlers come first and have no router around them, because a REST send then takes 73 µs of Node instead of
  // 87 (busy machine).
  const app = createApp(settings, (first) => mounted && first.use(...mounted))
  if (health !== undefined) app.use(healthRoutes(health))
  if (metrics !== undefined) app.use(metrics.route)
  if (documents !== undefined) app.use(documents)
  app.use(notFound, onError(log, answerError))
  return app
}
