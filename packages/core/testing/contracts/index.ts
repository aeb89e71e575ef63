// What every adapter of a port must pass.
export type { Contract } from './shared.ts'
export { accountsContract } from './accounts.ts'
export { auditLogContract } from './audit-log.ts'
export { carrierFiguresContract } from './carrier-figures.ts'
export { carrierContract } from './carrier.ts'
export { clientRequestsContract } from './client-requests.ts'
export {
  carrierBindsContract,
  carrierModesContract,
  carrierRatesContract,
  carrierStatusesContract,
  carrierVersionsContract,
  routesContract,
} from './carriers.ts'
export { accountRatesContract, loginFailuresContract, rateLimitsContract } from './account-rates.ts'
export { claimedBatchesContract } from './claimed-batches.ts'
export { commitsContract, type HeldPorts } from './commits.ts'
export { historyContract } from './history.ts'
export { conversationsContract } from './conversations.ts'
export { dailySumsContract } from './daily-sums.ts'
export { inboxContract } from './inbox.ts'
export { ledgerContract } from './ledger.ts'
export { messagesContract } from './messages.ts'
export { secondFactorsContract } from './second-factors.ts'
export { operatorsContract } from './operators.ts'
export { usersContract } from './users.ts'
export { overviewContract } from './overview.ts'
export { personalDataContract } from './personal-data.ts'
export { pricesContract } from './prices.ts'
export { deliveryReceiptsContract } from './delivery-receipts.ts'
export { secretsContract } from './secrets.ts'
export { sendersContract } from './senders.ts'
export { bulkSendsContract } from './bulk-sends.ts'
export { sentMessagesContract } from './sent-messages.ts'
export { sessionsContract } from './sessions.ts'
export { messageTracesContract } from './message-traces.ts'
export { carrierWatchesContract } from './carrier-watches.ts'
export { unknownMessagesContract } from './unknown-messages.ts'
export { unreadReceiptsContract } from './unread-receipts.ts'
export { suppressionsContract } from './suppressions.ts'
export { templatesContract } from './templates.ts'
export { wakeupsContract } from './wakeups.ts'
export { webhooksContract } from './webhooks.ts'
// Rules that a statement decides, for tests beside that statement.
export { useRate } from './specification/accounts.ts'
