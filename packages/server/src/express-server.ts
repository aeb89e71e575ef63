import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http'
import type { Express } from 'express'

/**
 * An HTTP server without listeners. For an Express app it constructs requests and responses with the app's own prototypes. Express
 * sets these on every request; a changed prototype makes Node's own code slow (docs/decisions/0036-express-with-its-own-prototypes.md).
 */
export const createServerFor = (app: RequestListener, options: ServerOptions): Server =>
  createServer(isExpress(app) ? { ...options, ...constructorsOf(app) } : options)

export const isExpress = (app: RequestListener): app is Express => 'request' in app && 'response' in app

/** Two classes whose prototypes replace `app.request` and `app.response` and inherit from them. */
const constructorsOf = (app: Express) => {
  class Request extends IncomingMessage {}
  class Response<For extends IncomingMessage = IncomingMessage> extends ServerResponse<For> {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request) as Express['request']
  app.response = Object.setPrototypeOf(Response.prototype, app.response) as Express['response']
  return { IncomingMessage: Request, ServerResponse: Response }
}
