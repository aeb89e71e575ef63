import type { Clock } from '@gateway/core/time'
import { requestTarget, writeWhole, type DescribeMalformed } from '@gateway/server'
import { interfaceOf, notFoundElsewhere, refusalsElsewhere } from '@gateway/wire'
import type { RequestHandler } from 'express'

/**
 * Returns the response to a request that is refused before a page reads it. At a path of an interface, the response has
 * the form of that interface. At a path of the portal, it is plain text (rulings 1.31, 3.8).
 */
export const describeMalformed: (clock: Clock) => DescribeMalformed = refusalsElsewhere

/**
 * Handles a path that does not exist. Below `/api` the response has the form of the interface, elsewhere `page`
 * answers.
 */
export const restOr =
  (clock: Clock, page: RequestHandler): RequestHandler =>
  (request, response, next) => {
    const path = requestTarget(request)
    if (interfaceOf(path) !== undefined) writeWhole(response, notFoundElsewhere(path, clock.now()))
    else page(request, response, next)
  }
