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

/** Where the specification puts the interface; letter case matters (spec 7.1). */
export const prefix = '/api/rest/v1'

/** Every operation by its path below the prefix (spec 4.1; rulings 2.6, 2.11, 2.14). */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map([
  ['/sms/outgoing/send', send],
  ['/sms/outgoing/status', status],
  ['/credits/balance', creditBalance],
  ['/credits/transfer', transferCredits],
  ['/shortcode/incoming', shortCodeMessages],
  ['/sms/incoming', incomingMessages],
  ['/sms/incoming/optout', optOutMessages],
  ['/sms/outgoing/sendmulti', sendMulti],
  ['/sms/scheduled', scheduledMessages],
  ['/sms/scheduled/delete', deleteScheduled],
  ['/subaccounts', subAccounts],
])
