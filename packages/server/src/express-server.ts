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
 * A server that has no listener yet. For an app of Express its requests and answers are made with the app's own prototypes: Express
 * sets these on every request, which changes nothing then. Changed, node's own code for them is slow from then on.
 */
export const createServerFor = (app: RequestListener, options: ServerOptions): Server =>
  createServer(isExpress(app) ? { ...options, ...constructorsOf(app) } : options)

const isExpress = (app: RequestListener): app is Express => 'request' in app && 'response' in app

/** `app.request` and `app.response` become the prototypes of two classes, and stay in their chains. */
const constructorsOf = (app: Express) => {
  class Request extends IncomingMessage {}
  class Response<For extends IncomingMessage = IncomingMessage> extends ServerResponse<For> {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request) as Express['request']
  app.response = Object.setPrototypeOf(Response.prototype, app.response) as Express['response']
  return { IncomingMessage: Request, ServerResponse: Response }
}
