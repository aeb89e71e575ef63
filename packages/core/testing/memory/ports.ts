import type { Ports, StoredPorts } from '@gateway/core'
import type { Clock } from '@gateway/core/time'
import { memoryAccountRates, memoryAccounts, memoryLoginFailures } from './accounts.ts'
import { memoryAuditLog } from './audit-log.ts'
import { memoryBulkSends } from './bulk-sends.ts'
import { memoryTemplates } from './templates.ts'
import { memoryCarrierVersions, memoryRoutes } from './carriers.ts'
import { memoryFleet } from './fleet.ts'
import { memoryClaimedBatches } from './claimed-batches.ts'
import { realClock } from './clock.ts'
import { memoryDailySums } from './daily-sums.ts'
import { memoryDeliveryReceipts } from './delivery-receipts.ts'
import { memoryHistory } from './history.ts'
import { memoryInbox } from './inbox.ts'
import { memoryClientRequests, memoryLedger, memoryPrices } from './ledger.ts'
import { memoryMessages, memorySenders } from './messages.ts'
import { memoryOperators } from './operators.ts'
import { memoryOverview } from './overview.ts'
import { memoryPersonalData } from './personal-data.ts'
import { memoryPromotions } from './promotions.ts'
import { memorySentMessages } from './sent-messages.ts'
import { memorySecondFactors } from './second-factors.ts'
import { memorySessions } from './sessions.ts'
import { memoryUsers } from './users.ts'
import { memorySmppBinds, memorySmppCredentials } from './smpp-credentials.ts'
import { memorySmppDeliveries } from './smpp-deliveries.ts'
import { memorySmppParts } from './smpp-parts.ts'
import { scriptedWebhookClient } from './scripted-webhook-client.ts'
import { memorySecretBox, memorySecrets, type MemorySecretsSettings } from './secrets.ts'
import { memoryStore, type MemoryStore } from './store.ts'
import { memorySuppressions } from './suppressions.ts'
import { memoryWebhooks } from './webhooks.ts'

export interface MemoryPortsOptions {
  /**
   * Clock of the process and of the store, which decides about leases and due times. Default: the clock of this
   * machine.
   */
  readonly clock?: Clock
  readonly secrets?: MemorySecretsSettings
}

/**
 * Creates every port over one new, empty memory store, which ends with the process. For tests, and for programs without
 * a database. Numbers cost 1.0 a part until prices are set. Password hashes are too weak to be stored
 * (`memorySecrets`).
 */
export function memoryPorts(options: MemoryPortsOptions = {}): Ports {
  const clock = options.clock ?? realClock()
  const stored = memoryStoredPorts(memoryStore(clock))
  const secrets = memorySecrets(options.secrets)
  return { ...stored, clock, secrets, secretBox: memorySecretBox(), webhookClient: scriptedWebhookClient() }
}

/** Creates the stored ports over this memory store; several calls share the data. */
export const memoryStoredPorts = (store: MemoryStore): StoredPorts => ({
  accounts: memoryAccounts(store),
  people: {
    users: memoryUsers(store),
    sessions: memorySessions(store),
    secondFactors: memorySecondFactors(store),
    loginFailures: memoryLoginFailures(store),
    operators: memoryOperators(store),
  },
  accountRates: memoryAccountRates(store),
  ledger: memoryLedger(store),
  prices: memoryPrices(store),
  suppressions: memorySuppressions(store),
  senders: memorySenders(store),
  routes: memoryRoutes(store),
  messages: memoryMessages(store),
  clientRequests: memoryClientRequests(store),
  claimedBatches: memoryClaimedBatches(store),
  carrierVersions: memoryCarrierVersions(store),
  fleet: memoryFleet(store),
  deliveryReceipts: memoryDeliveryReceipts(store),
  promotions: memoryPromotions(store),
  inbox: memoryInbox(store),
  sentMessages: memorySentMessages(store),
  dailySums: memoryDailySums(store),
  bulkSends: memoryBulkSends(store),
  templates: memoryTemplates(store),
  overview: memoryOverview(store),
  history: memoryHistory(store),
  webhooks: memoryWebhooks(store),
  smppCredentials: memorySmppCredentials(store),
  smppBinds: memorySmppBinds(store),
  smppParts: memorySmppParts(store),
  smppDeliveries: memorySmppDeliveries(store),
  personalData: memoryPersonalData(store),
  auditLog: memoryAuditLog(store),
})
