import type { Clock } from '@gateway/core/time'
import type { DescribeMalformed } from '@gateway/server'
import { interfaceOf, refusalElsewhere } from '@gateway/wire'
import { contentType, errorElement, inError, overloaded } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { deleteScheduled } from './endpoints/xmldeletescheduled.ts'
import { takeReplies } from './endpoints/xmlgetreplies.ts'
import { takeShortCodeMessages } from './endpoints/xmlgetscmessages.ts'
import { queryStatus } from './endpoints/xmlgetstatus.ts'
import { sendMessages } from './endpoints/xmlsendsmsmulti.ts'

/** Path prefix of the interface in the specification. */
export const prefix = '/api'

/** Matches the prefix in any letter case (ruling 4.1). */
export const mount = /^\/api(?=\/|$)/i

/** Matches the paths below the prefix that belong to this interface, including unknown ones, which are answered 404. */
export const ownsPath = /^\/xml[^/]*\.asp$/i

/** Operations by path below the prefix. Letter case does not matter (spec 4.3). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['/xmlsendsmsmulti.asp', sendMessages],
  ['/xmlgetstatus.asp', queryStatus],
  ['/xmldeletescheduled.asp', deleteScheduled],
  ['/xmlgetreplies.asp', takeReplies],
  ['/xmlgetscmessages.asp', takeShortCodeMessages],
])

/**
 * Returns the answer to a request that is refused before an operation reads it. The answer is an `Error` in the root
 * element of the operation. Any other path gets the root element of a send, except a path of another interface, which
 * gets the form of that interface (rulings 1.31, 3.8). An unknown HTTP method is refused like any other wrong method
 * (ruling 4.10).
 */
export const describeMalformed =
  (clock: Clock): DescribeMalformed =>
  (malformed) => {
    const { status, reason, path } = malformed
    const interfaceName = interfaceOf(path)
    if (interfaceName === 'rest' || interfaceName === 'query-string') return refusalElsewhere(malformed, clock.now())
    const endpoint = endpoints.get(path.replace(mount, '').toLowerCase())
    const { content, headers } = refusalOf(status, reason, endpoint !== undefined)
    return { status, contentType, headers, body: (endpoint ?? sendMessages).inRoot(content) }
  }

function refusalOf(status: number, reason: string, isOperation: boolean) {
  if (status === 503) return { content: inError(overloaded).content, headers: { 'Retry-After': '1' } }
  const wrongMethod = inError({ trouble: 'wrong-method' })
  return status === wrongMethod.status && isOperation
    ? { content: wrongMethod.content, headers: { Allow: 'POST' } }
    : { content: errorElement(reason), headers: {} }
}
