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

/**
 * Whether a path, in any letter case, is under `/api`: what no other interface claims there is this one's to answer, with
 * 404 if it must be (ruling 3.8).
 */
export const isAspPath = (path: string): boolean => /^\/api(?:\/|$)/i.test(path)

/** Every operation by its path in lower case (spec 4.2). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['/api/auth.asp', auth],
  ['/api/credits.asp', credits],
  ['/api/batchmessage.asp', batchMessage],
  ['/api/requestbatch.asp', requestBatch],
  ['/api/deletescheduled.asp', deleteScheduled],
  ['/api/httpgetreplies.asp', takeReplies],
  ['/api/httpgetscmessages.asp', takeShortCodeMessages],
  ['/api/listoptouts.asp', listOptOuts],
  ['/api/creditstransfer.asp', transferCredits],
])
