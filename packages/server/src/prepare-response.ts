import type { ServerResponse } from 'node:http'
import { observeRequests, type Service } from './observe-requests.ts'
import { closeQueued } from './queued-responses.ts'

/**
 * What comes before every answer of ours: its header, that it is measured and logged once, and that it closes when its connection
 * does. Where it was begun already, by the app around it, it changes the name of the service only.
 */
export const prepareResponse = (service: Service) => {
  const observe = observeRequests(service)
  return (response: ServerResponse): void => {
    if (!observe(response)) return
    response.setHeader('X-Content-Type-Options', 'nosniff')
    closeQueued(response)
  }
}
