import type { Clock } from '@gateway/core/time'
import { malformedInText, requestTarget, writeWhole, type DescribeMalformed } from '@gateway/server'
import { isRestPath, restNotFound, restRefusal } from '@gateway/wire'
import type { RequestHandler } from 'express'

/**
 * Returns the response to a request that is refused before a page reads it: plain text, or below `/api/rest/` the
 * envelope of REST (rulings 1.31, 3.8).
 */
export const describeMalformed =
  (clock: Clock): DescribeMalformed =>
  (malformed) =>
    isRestPath(malformed.path) ? restRefusal(malformed, clock.now()) : malformedInText(malformed)

/** Handles a path that does not exist: below `/api/rest/` with the envelope of REST, elsewhere with `page`. */
export const restOr =
  (clock: Clock, page: RequestHandler): RequestHandler =>
  (request, response, next) => {
    if (isRestPath(requestTarget(request))) writeWhole(response, restNotFound(clock.now()))
    else page(request, response, next)
  }
