import { type DescribeMalformed, malformedInText } from '@gateway/server'
import { contentType, wrongMethod } from './answer.ts'
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

/** Where the specification puts the interface. */
export const prefix = '/api'

/** Its prefix in any letter case (ruling 3.8). */
export const mount = /^\/api(?=\/|$)/i

/** Every operation by its path below the prefix, whose letter case does not count (spec 4.2). */
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

/** A method that HTTP does not have is refused by an endpoint as any other one (ruling 3.1). */
export const describeMalformed: DescribeMalformed = (malformed) => {
  const isEndpoint = endpoints.has(malformed.path.replace(mount, '').toLowerCase())
  const { status, text, headers } = wrongMethod
  return malformed.status === status && isEndpoint
    ? { status, contentType, headers, body: text }
    : malformedInText(malformed)
}
