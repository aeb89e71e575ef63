import type { Clock } from '@gateway/core/time'
import { type DescribeMalformed, type PathRules, pathTable } from '@gateway/server'
import { interfaceOf, refusalElsewhere, restCodeOf } from '@gateway/wire'
import { failure, type Failure, overloaded, wholeFailure } from './answer.ts'
import { methodsOf, noSuchPath, wrongMethod } from './endpoint.ts'
import { creditBalance } from './endpoints/credits/balance.ts'
import { transferCredits } from './endpoints/credits/transfer.ts'
import { shortCodeMessages } from './endpoints/shortcode/incoming.ts'
import { incomingMessages } from './endpoints/sms/incoming.ts'
import { optOutMessages } from './endpoints/sms/incoming/optout.ts'
import { send } from './endpoints/sms/outgoing/send.ts'
import { sendMulti } from './endpoints/sms/outgoing/sendmulti.ts'
import { status } from './endpoints/sms/outgoing/status.ts'
import { scheduledMessages } from './endpoints/sms/scheduled.ts'
import { deleteScheduled } from './endpoints/sms/scheduled/delete.ts'
import { subAccounts } from './endpoints/subaccounts.ts'
import { addWebhook, webhooks } from './endpoints/webhooks.ts'
import { attempts } from './endpoints/webhooks/attempts.ts'
import { replay, replayEvents, stopReplay } from './endpoints/webhooks/replay.ts'
import { rotateSecret } from './endpoints/webhooks/rotate.ts'
import { testWebhook } from './endpoints/webhooks/test.ts'
import { changeWebhook, removeWebhook, webhook } from './endpoints/webhooks/webhook.ts'
import type { Endpoint } from './operation.ts'

/** Path prefix of the interface in the specification. Letter case matters (spec 7.1). */
export const prefix = '/api/rest/v1'

/** Letter case matters; one trailing slash is ignored (ruling 2.3). */
export const pathRules: PathRules = { caseSensitive: true, lastSlashIgnored: true }

/**
 * Operations by path below the prefix (spec 4.1; rulings 2.6, 2.11, 2.14), including webhooks, which are an addition to
 * the specification.
 */
export const endpoints: ReadonlyMap<string, readonly Endpoint[]> = new Map([
  ['/sms/outgoing/send', [send]],
  ['/sms/outgoing/status', [status]],
  ['/credits/balance', [creditBalance]],
  ['/credits/transfer', [transferCredits]],
  ['/shortcode/incoming', [shortCodeMessages]],
  ['/sms/incoming', [incomingMessages]],
  ['/sms/incoming/optout', [optOutMessages]],
  ['/sms/outgoing/sendmulti', [sendMulti]],
  ['/sms/scheduled', [scheduledMessages]],
  ['/sms/scheduled/delete', [deleteScheduled]],
  ['/subaccounts', [subAccounts]],
  ['/webhooks', [webhooks, addWebhook]],
  ['/webhooks/{id}', [webhook, changeWebhook, removeWebhook]],
  ['/webhooks/{id}/rotate', [rotateSecret]],
  ['/webhooks/{id}/test', [testWebhook]],
  ['/webhooks/{id}/replay', [replay, replayEvents, stopReplay]],
  ['/webhooks/{id}/attempts', [attempts]],
])

/**
 * Returns the answer to a request that is refused before an endpoint reads it. The answer has the REST envelope; at a
 * path of another interface, it has the form of that interface (rulings 1.31, 3.8). An unknown method is answered 404
 * or 405 in the order of the rulings (2.1, 2.3).
 */
export const describeMalformed =
  (clock: Clock): DescribeMalformed =>
  (malformed) => {
    const { status, reason, method, path } = malformed
    const interfaceName = interfaceOf(path)
    if (interfaceName === 'xml' || interfaceName === 'query-string') return refusalElsewhere(malformed, clock.now())
    return wholeFailure(
      status === 405 ? noSuchMethod(method, path) : status === 503 ? overloaded : failure(restCodeOf(status), reason),
      clock.now(),
    )
  }

const find = pathTable(endpoints, pathRules)

function noSuchMethod(method: string, path: string): Failure {
  const found = path.startsWith(prefix) ? find(path.slice(prefix.length)) : undefined
  return found === undefined ? noSuchPath : wrongMethod(methodsOf(found.endpoint), method)
}
