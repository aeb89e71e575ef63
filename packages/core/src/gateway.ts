import { authenticate } from './account/authenticate.ts'
import { creditBalance } from './credits/credit-balance.ts'
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
})

export type Gateway = ReturnType<typeof createGateway>
