import type { StoredPorts } from '@gateway/core'
import { accountRatesContract } from './account-rates.ts'
import { accountsContract } from './accounts.ts'
import { auditLogContract } from './audit-log.ts'
import { bulkSendsContract } from './bulk-sends.ts'
import { carrierVersionsContract, routesContract } from './carriers.ts'
import { claimedBatchesContract } from './claimed-batches.ts'
import { clientRequestsContract } from './client-requests.ts'
import { dailySumsContract } from './daily-sums.ts'
import { deliveryReceiptsContract } from './delivery-receipts.ts'
import { fleetContract } from './fleet.ts'
import { historyContract } from './history.ts'
import { inboxContract } from './inbox.ts'
import { ledgerContract } from './ledger.ts'
import { messagesContract } from './messages.ts'
import { overviewContract } from './overview.ts'
import { peopleContract } from './people.ts'
import { personalDataContract } from './personal-data.ts'
import { pricesContract } from './prices.ts'
import { promotionsContract } from './promotions.ts'
import { sendersContract } from './senders.ts'
import { sentMessagesContract } from './sent-messages.ts'
import { smppBindsContract } from './smpp-binds.ts'
import { smppCredentialsContract } from './smpp-credentials.ts'
import { smppDeliveriesContract } from './smpp-deliveries.ts'
import { smppPartsContract } from './smpp-parts.ts'
import { suppressionsContract } from './suppressions.ts'
import { templatesContract } from './templates.ts'
import { webhooksContract } from './webhooks.ts'
import type { Contract } from './shared.ts'

/** Contracts of all stored ports. Every adapter of these ports must pass all of them. */
export const storedPortContracts: { readonly [Port in keyof StoredPorts]: Contract<StoredPorts> } = {
  accounts: accountsContract,
  people: peopleContract,
  accountRates: accountRatesContract,
  ledger: ledgerContract,
  prices: pricesContract,
  suppressions: suppressionsContract,
  senders: sendersContract,
  routes: routesContract,
  messages: messagesContract,
  clientRequests: clientRequestsContract,
  claimedBatches: claimedBatchesContract,
  carrierVersions: carrierVersionsContract,
  fleet: fleetContract,
  deliveryReceipts: deliveryReceiptsContract,
  promotions: promotionsContract,
  inbox: inboxContract,
  sentMessages: sentMessagesContract,
  dailySums: dailySumsContract,
  bulkSends: bulkSendsContract,
  templates: templatesContract,
  overview: overviewContract,
  history: historyContract,
  webhooks: webhooksContract,
  smppCredentials: smppCredentialsContract,
  smppBinds: smppBindsContract,
  smppParts: smppPartsContract,
  smppDeliveries: smppDeliveriesContract,
  personalData: personalDataContract,
  auditLog: auditLogContract,
}
