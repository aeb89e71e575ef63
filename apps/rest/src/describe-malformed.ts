import type { Clock } from '@gateway/core'
import type { DescribeMalformed } from '@gateway/server'
import { failure, wholeFailure, type Failure } from './answer.ts'
import { noSuchPath, wrongMethod } from './endpoint.ts'
import { endpoints, prefix } from './routes.ts'

/** With the envelope; a method that does not exist is answered in the ruled order: 404, 405 (rulings 2.1, 2.3). */
export const describeMalformed =
  (clock: Clock): DescribeMalformed =>
  ({ status, reason, method, path }) =>
    wholeFailure(status === 405 ? noSuchMethod(method, path) : failure(status, reason), clock.now())

function noSuchMethod(method: string, path: string): Failure {
  const endpoint = path.startsWith(prefix) ? endpoints.get(path.slice(prefix.length).replace(/\/$/, '')) : undefined
  return endpoint === undefined ? noSuchPath : wrongMethod(endpoint.method, method)
}
