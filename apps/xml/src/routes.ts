import { type DescribeMalformed, malformedInText } from '@gateway/server'
import { contentType, inError } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { deleteScheduled } from './endpoints/xmldeletescheduled.ts'
import { takeReplies } from './endpoints/xmlgetreplies.ts'
import { takeShortCodeMessages } from './endpoints/xmlgetscmessages.ts'
import { queryStatus } from './endpoints/xmlgetstatus.ts'
import { sendMessages } from './endpoints/xmlsendsmsmulti.ts'

/** The prefix of the specification. */
export const prefix = '/api'

/** The prefix in any letter case (ruling 4.1). */
export const mount = /^\/api(?=\/|$)/i

/** The paths below the prefix that this interface owns and answers, if only with 404. */
export const ownsPath = /^\/xml[^/]*\.asp$/i

/** Every operation by its path below the prefix; letter case does not count (spec 4.3). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['/xmlsendsmsmulti.asp', sendMessages],
  ['/xmlgetstatus.asp', queryStatus],
  ['/xmldeletescheduled.asp', deleteScheduled],
  ['/xmlgetreplies.asp', takeReplies],
  ['/xmlgetscmessages.asp', takeShortCodeMessages],
])

/** A method that HTTP does not have is refused by an operation as any other one (ruling 4.10). */
export const describeMalformed: DescribeMalformed = (malformed) => {
  const endpoint = endpoints.get(malformed.path.replace(mount, '').toLowerCase())
  const { status, content } = inError({ trouble: 'wrong-method' })
  return malformed.status === status && endpoint !== undefined
    ? { status, contentType, headers: { Allow: 'POST' }, body: endpoint.inRoot(content) }
    : malformedInText(malformed)
}
