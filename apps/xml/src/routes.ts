import type { Endpoint } from './endpoint.ts'
import { deleteScheduled } from './endpoints/xmldeletescheduled.ts'
import { takeReplies } from './endpoints/xmlgetreplies.ts'
import { takeShortCodeMessages } from './endpoints/xmlgetscmessages.ts'
import { queryStatus } from './endpoints/xmlgetstatus.ts'
import { sendMessages } from './endpoints/xmlsendsmsmulti.ts'

/** Whether a path is this interface's to answer, with 404 if it must be; letter case does not matter (ruling 4.1). */
export const isXmlPath = (path: string): boolean => /^\/api\/xml[^/]*\.asp$/i.test(path)

/** Every operation by its path in lower case (spec 4.3). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['/api/xmlsendsmsmulti.asp', sendMessages],
  ['/api/xmlgetstatus.asp', queryStatus],
  ['/api/xmldeletescheduled.asp', deleteScheduled],
  ['/api/xmlgetreplies.asp', takeReplies],
  ['/api/xmlgetscmessages.asp', takeShortCodeMessages],
])
