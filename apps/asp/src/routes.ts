import type { Clock } from '@gateway/core/time'
import type { DescribeMalformed } from '@gateway/server'
import { interfaceOf, refusalElsewhere } from '@gateway/wire'
import { contentType, errorText, failure, type Failure, overloaded, wrongMethod } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { auth } from './endpoints/auth.ts'
import { batchMessage } from './endpoints/batchmessage.ts'
import { credits } from './endpoints/credits.ts'
import { transferCredits } from './endpoints/creditstransfer.ts'
import { deleteScheduled } from './endpoints/deletescheduled.ts'
import { takeReplies } from './endpoints/httpgetreplies.ts'
import { takeShortCodeMessages } from './endpoints/httpgetscmessages.ts'
import { listOptOuts } from './endpoints/listoptouts.ts'
import { requestBatch } from './endpoints/requestbatch.ts'

/** Path prefix of the interface in the specification. */
export const prefix = '/api'

/** Matches the prefix in any letter case (ruling 3.8). */
export const mount = /^\/api(?=\/|$)/i

/** Operations by path below the prefix. Letter case does not matter (spec 4.2). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['/auth.asp', auth],
  ['/credits.asp', credits],
  ['/batchmessage.asp', batchMessage],
  ['/requestbatch.asp', requestBatch],
  ['/deletescheduled.asp', deleteScheduled],
  ['/httpgetreplies.asp', takeReplies],
  ['/httpgetscmessages.asp', takeShortCodeMessages],
  ['/listoptouts.asp', listOptOuts],
  ['/creditstransfer.asp', transferCredits],
])

/**
 * Returns the answer to a request that is refused before an endpoint reads it. The answer is an error text of this
 * interface or, at a path of another interface, an error in the form of that interface (rulings 1.31, 3.8). An unknown
 * HTTP method is refused like any other wrong method (ruling 3.1).
 */
export const describeMalformed =
  (clock: Clock): DescribeMalformed =>
  (malformed) => {
    const { status, reason, path } = malformed
    const interfaceName = interfaceOf(path)
    if (interfaceName === 'rest' || interfaceName === 'xml') return refusalElsewhere(malformed, clock.now())
    const { text, headers } = refusalOf(status, reason, path)
    return { status, contentType, headers, body: text }
  }

function refusalOf(status: number, reason: string, path: string): Failure {
  if (status === 503) return overloaded
  const isEndpoint = endpoints.has(path.replace(mount, '').toLowerCase())
  return status === wrongMethod.status && isEndpoint ? wrongMethod : failure(status, errorText(reason))
}
