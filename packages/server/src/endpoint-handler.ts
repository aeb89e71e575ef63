import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { AdmissionGate } from './admission-gate.ts'
import { prepareResponse } from './prepare-response.ts'
import { nameEndpoint, type Service } from './observe-requests.ts'
import { handleFailure } from './on-error.ts'
import { pathTable, type PathRules } from './path-table.ts'

export interface EndpointHandlerSettings<Endpoint> extends Service, PathRules {
  /** Counts what `answer` is at; not counted if not given. */
  readonly gate?: Pick<AdmissionGate, 'requests'> | undefined
  /** Prefix of an endpoint's path in metrics, wherever the router is mounted. */
  readonly prefix: string
  /** Every endpoint by its path below the mount point, as in `pathTable`. */
  readonly endpoints: ReadonlyMap<string, Endpoint>
  /** Called for every HTTP method. `parameter`: the digits in the place of `{id}` of the path. */
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    endpoint: Endpoint,
    parameter: string | undefined,
  ) => Promise<void> | void
  /** Called with what `answer` threw: 400 if the request could not be read, else 500. */
  readonly answerFailure: (response: ServerResponse, endpoint: Endpoint, status: 400 | 500, error: unknown) => void
}

/**
 * The endpoints of an interface as an Express handler, to be mounted at a path. Each request to an endpoint is measured and logged once; what its handler
 * throws is answered in the interface's own form. Any other request passes to the next handler unchanged.
 */
export const endpointHandler = <Endpoint>(settings: EndpointHandlerSettings<Endpoint>): RequestHandler => {
  const { prefix, endpoints, answer, answerFailure, gate } = settings
  const begin = prepareResponse(settings)
  const failed = handleFailure(settings.log)
  const find = pathTable(endpoints, settings)
  const names = new Map([...endpoints.keys()].map((path) => [path, prefix + path]))
  return async (request, response, next) => {
    const { endpoint, path = '', parameter } = find(request.path) ?? {}
    if (endpoint === undefined) {
      next()
      return
    }
    begin(response)
    nameEndpoint(response, names.get(path) ?? path)
    gate?.requests.begin()
    try {
      await answer(request, response, endpoint, parameter)
    } catch (error) {
      failed(error, request, response, (status) => answerFailure(response, endpoint, status, error))
    } finally {
      gate?.requests.end()
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
