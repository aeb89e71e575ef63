import { prepareResponse, requestIdHeader, type Service } from '@gateway/server'
import cors from 'cors'
import type { RequestHandler } from 'express'

/**
 * Lets pages of these origins call the interface from a browser (ruling 2.15, the Fetch standard): their preflight requests are
 * answered 204, and answers to them carry the headers. Requests of other origins go on unchanged. Cookies are never asked for.
 */
export function browserOrigins(origins: readonly string[], service: Service): RequestHandler {
  const begin = prepareResponse(service)
  const allowed = new Set(origins)
  const allow = cors({
    origin: [...allowed],
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', requestIdHeader],
    exposedHeaders: ['Retry-After', requestIdHeader],
    maxAge: 7200, // No browser keeps an answer for longer than Chrome, which keeps it for two hours.
  })
  return (request, response, next) => {
    const { origin = '', 'access-control-request-method': wanted } = request.headers
    const isOptions = request.method === 'OPTIONS'
    if (!allowed.has(origin) || (isOptions && wanted === undefined)) {
      next()
      return
    }
    if (isOptions) begin(response)
    allow(request, response, next)
  }
}
