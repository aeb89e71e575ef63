import type { Clock } from '@gateway/core'
import { pathTable, type DescribeMalformed } from '@gateway/server'
import { failure, wholeFailure, type Failure } from './answer.ts'
import type { ErrorCode } from './error-codes.ts'
import { methodsOf, noSuchPath, wrongMethod } from './endpoint.ts'
import { endpoints, pathRules, prefix } from './routes.ts'

/** With the envelope; a method that does not exist is answered in the ruled order: 404, 405 (rulings 2.1, 2.3). */
export const describeMalformed =
  (clock: Clock): DescribeMalformed =>
  ({ status, reason, method, path }) =>
    wholeFailure(
      status === 405 ? noSuchMethod(method, path) : failure(CODE[status] ?? 'malformed-request', reason),
      clock.now(),
    )

/** Of what is no HTTP, by its status. */
const CODE: Readonly<Record<number, ErrorCode>> = {
  408: 'request-timeout',
  413: 'chunk-extensions-too-long',
  417: 'expectation-failed',
  431: 'headers-too-large',
}

const find = pathTable(endpoints, pathRules)

function noSuchMethod(method: string, path: string): Failure {
  const found = path.startsWith(prefix) ? find(path.slice(prefix.length)) : undefined
  return found === undefined ? noSuchPath : wrongMethod(methodsOf(found.endpoint), method)
}
