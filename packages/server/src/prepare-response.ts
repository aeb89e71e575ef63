import type { ServerResponse } from 'node:http'
import { observeRequests, type Service } from './observe-requests.ts'
import { identify } from './request-id.ts'
import { closeQueued } from './queued-responses.ts'

/**
 * Prepares each response once: sets `X-Content-Type-Options` and `X-Request-Id`, measures and logs it, and closes it with its connection.
 * If an outer app has prepared it already, only the name of the service changes.
 */
export const prepareResponse = (service: Service) => {
  const observe = observeRequests(service)
  return (response: ServerResponse): void => {
    if (!observe(response)) return
    response.setHeader('X-Content-Type-Options', 'nosniff')
    identify(response)
    closeQueued(response)
  }
}
