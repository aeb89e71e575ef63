import type { Endpoint } from './endpoint.ts'
import { creditBalance } from './endpoints/credits/balance.ts'
import { transferCredits } from './endpoints/credits/transfer.ts'
import { shortCodeMessages } from './endpoints/shortcode/incoming.ts'
import { incomingMessages } from './endpoints/sms/incoming.ts'
import { optOutMessages } from './endpoints/sms/incoming/optout.ts'
import { sendMulti } from './endpoints/sms/outgoing/sendmulti.ts'
import { send } from './endpoints/sms/outgoing/send.ts'
import { status } from './endpoints/sms/outgoing/status.ts'
import { scheduledMessages } from './endpoints/sms/scheduled.ts'
import { deleteScheduled } from './endpoints/sms/scheduled/delete.ts'
import { subAccounts } from './endpoints/subaccounts.ts'

const prefix = '/api/rest/v1'

/** Whether a path is this interface's to answer, with 404 if it must be; letter case matters (spec 7.1). */
export const isRestPath = (path: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')

/** Every operation by its path (spec 4.1; rulings 2.6, 2.11, 2.14). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  [`${prefix}/credits/balance`, creditBalance],
  [`${prefix}/credits/transfer`, transferCredits],
  [`${prefix}/shortcode/incoming`, shortCodeMessages],
  [`${prefix}/sms/incoming`, incomingMessages],
  [`${prefix}/sms/incoming/optout`, optOutMessages],
  [`${prefix}/sms/outgoing/send`, send],
  [`${prefix}/sms/outgoing/sendmulti`, sendMulti],
  [`${prefix}/sms/outgoing/status`, status],
  [`${prefix}/sms/scheduled`, scheduledMessages],
  [`${prefix}/sms/scheduled/delete`, deleteScheduled],
  [`${prefix}/subaccounts`, subAccounts],
])
