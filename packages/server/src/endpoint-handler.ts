import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { prepareResponse } from './prepare-response.ts'
import { nameEndpoint, type Service } from './observe-requests.ts'
import { handleFailure } from './on-error.ts'

export interface EndpointHandlerSettings<Endpoint> extends Service {
  /** Prefix of an endpoint's path in metrics, wherever the router is mounted. */
  readonly prefix: string
  /** Whether the letter case of paths counts. */
  readonly caseSensitive: boolean
  /** Whether one trailing slash is ignored; false if not given. */
  readonly lastSlashIgnored?: boolean | undefined
  /** Every endpoint by its path below the mount point, without trailing slash. Paths match exactly. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  /** Called for every HTTP method. */
  readonly answer: (request: IncomingMessage, response: ServerResponse, endpoint: Endpoint) => Promise<void> | void
  /** Called with what `answer` threw: 400 if the request could not be read, else 500. */
  readonly answerFailure: (response: ServerResponse, endpoint: Endpoint, status: 400 | 500, error: unknown) => void
}

/**
 * The endpoints of an interface as an Express handler, to be mounted at a path. Each request to an endpoint is measured and logged once; what its handler
 * throws is answered in the interface's own form. Any other request passes to the next handler unchanged.
 */
export const endpointHandler = <Endpoint>(settings: EndpointHandlerSettings<Endpoint>): RequestHandler => {
  const { prefix, caseSensitive, lastSlashIgnored = false, endpoints, answer, answerFailure } = settings
  const begin = prepareResponse(settings)
  const failed = handleFailure(settings.log)
  const keyOf = (path: string) => {
    const named = lastSlashIgnored && path.endsWith('/') ? path.slice(0, -1) : path
    return caseSensitive ? named : named.toLowerCase()
  }
  const found = new Map([...endpoints].map(([path, endpoint]) => [keyOf(path), { endpoint, name: prefix + path }]))
  // One map look-up: Express would compare the path with each route in turn.
  return async (request, response, next) => {
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
  }
}

/** Answers every request that reaches it, on any path; measured and logged under this service. */
export const fallbackHandler = (service: Service, answer: (response: ServerResponse) => void): RequestHandler => {
  const begin = prepareResponse(service)
  return (_request, response) => {
    begin(response)
    answer(response)
  }
}
