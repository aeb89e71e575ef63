import { authenticate } from './account/authenticate.ts'
import { listSubAccounts } from './account/list-sub-accounts.ts'
import { creditBalance } from './credits/credit-balance.ts'
import { transferCredits } from './credits/transfer-credits.ts'
import { deleteScheduled } from './message/delete-scheduled.ts'
import { listScheduled } from './message/list-scheduled.ts'
import { queryStatus } from './message/query-status.ts'
import { sendMessages } from './message/send-messages.ts'
import type { Ports } from './ports.ts'

/** What an account holder can do, on whichever interface. */
export const createGateway = (
  ports: Pick<Ports, 'accounts' | 'ledger' | 'prices' | 'suppressions' | 'messages' | 'clock' | 'secrets'>,
) => ({
  authenticate: authenticate(ports),
  creditBalance: creditBalance(ports),
  sendMessages: sendMessages(ports),
  queryStatus: queryStatus(ports),
  listScheduled: listScheduled(ports),
  deleteScheduled: deleteScheduled(ports),
  transferCredits: transferCredits(ports),
  listSubAccounts: listSubAccounts(ports),
})

export type Gateway = ReturnType<typeof createGateway>
