import type { IncomingMessage, ServerResponse } from 'node:http'
import { Router, type RequestHandler } from 'express'
import { prepareResponse } from './prepare-response.ts'
import { nameEndpoint, type Service } from './observe-requests.ts'
import { handleFailure } from './on-error.ts'

export interface EndpointRouterSettings<Endpoint> extends Service {
  /** What precedes the path of an endpoint in metrics, wherever the router is mounted. */
  readonly prefix: string
  /** Whether the letter case of paths counts. */
  readonly caseSensitive: boolean
  /** Whether one slash at the end of a path is as none; false if not given. */
  readonly lastSlashIgnored?: boolean | undefined
  /** Every endpoint by its path below the mount point, without a slash at the end; paths are exact otherwise. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  /** Answers any method. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, endpoint: Endpoint) => Promise<void> | void
  /** Answers what `answer` threw: 400 if the request itself could not be read, else 500. */
  readonly answerFailure: (response: ServerResponse, endpoint: Endpoint, status: 400 | 500, error: unknown) => void
}

/**
 * The endpoints of an interface as a Router of Express. Each request of an endpoint is measured and logged once, and what its handler
 * throws is answered in the interface's own form. Every other request goes on to the next handler of the app, untouched.
 */
export const endpointRouter = <Endpoint>(settings: EndpointRouterSettings<Endpoint>): Router => {
  const { prefix, caseSensitive, lastSlashIgnored = false, endpoints, answer, answerFailure } = settings
  const begin = prepareResponse(settings)
  const failed = handleFailure(settings.log)
  const keyOf = (path: string) => {
    const named = lastSlashIgnored && path.endsWith('/') ? path.slice(0, -1) : path
    return caseSensitive ? named : named.toLowerCase()
  }
  const found = new Map([...endpoints].map(([path, endpoint]) => [keyOf(path), { endpoint, name: prefix + path }]))
  // One look-up: a route of Express for each endpoint would be compared with the path one after the other.
  return Router().use(async (request, response, next) => {
    const { endpoint, name } = found.get(keyOf(request.path)) ?? {}
    if (endpoint === undefined || name === undefined) {
      next()
      return
    }
    begin(response)
    nameEndpoint(response, name)
    try {
      await answer(request, response, endpoint)
    } catch (error) {
      failed(error, request, response, (status) => answerFailure(response, endpoint, status, error))
    }
  })
}

/** Answers every request that reaches it, on whatever path, measured and logged as one of this service. */
export const fallbackHandler = (service: Service, answer: (response: ServerResponse) => void): RequestHandler => {
  const begin = prepareResponse(service)
  return (_request, response) => {
    begin(response)
    answer(response)
  }
}
