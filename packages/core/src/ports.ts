import type { AccountRates } from './accounts/account-rates.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { People } from './people/people.ts'
import type { Secrets } from './people/secrets.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { CarrierBinds } from './fleet/carrier-binds.ts'
import type { CarrierRates } from './fleet/carrier-rates.ts'
import type { CarrierVersions } from './fleet/carrier-versions.ts'
import type { CarrierWatches } from './fleet/carrier-watches.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { ClaimedBatches } from './dispatch/claimed-batches.ts'
import type { DeliveryReceipts } from './dispatch/delivery-receipts.ts'
import type { Overview } from './fleet/overview.ts'
import type { Promotions } from './dispatch/promotions.ts'
import type { Routes } from './routes/published-routes.ts'
import type { Wakeups } from './dispatch/wakeups.ts'
import type { Ledger } from './credits/ledger.ts'
import type { Prices } from './credits/prices.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { BulkSends } from './bulk-sends/bulk-sends.ts'
import type { DailySums } from './messages/daily-sums.ts'
import type { History } from './messages/history.ts'
import type { Messages } from './messages/messages.ts'
import type { Senders } from './messages/senders.ts'
import type { SentMessages } from './messages/sent-messages.ts'
import type { Templates } from './bulk-sends/templates.ts'
import type { PersonalData } from './personal-data/personal-data.ts'
import type { ClientRequests } from './client-requests/client-requests.ts'
import type { SmppBinds } from './smpp-customers/smpp-binds.ts'
import type { SmppCredentials } from './smpp-customers/smpp-credentials.ts'
import type { SmppDeliveries } from './smpp-customers/smpp-deliveries.ts'
import type { SmppParts } from './smpp-customers/smpp-parts.ts'
import type { Suppressions } from './suppressions/suppressions.ts'
import type { Clock } from './time/instant.ts'
import type { SecretBox } from './webhooks/secret-box.ts'
import type { WebhookClient } from './webhooks/webhook-client.ts'
import type { Webhooks } from './webhooks/webhooks.ts'

/** Ports that a database implements. */
export interface StoredPorts {
  readonly accounts: Accounts
  readonly people: People
  readonly accountRates: AccountRates
  readonly ledger: Ledger
  readonly prices: Prices
  readonly suppressions: Suppressions
  readonly senders: Senders
  readonly routes: Routes
  readonly messages: Messages
  readonly clientRequests: ClientRequests
  readonly claimedBatches: ClaimedBatches
  readonly wakeups: Wakeups
  readonly carrierBinds: CarrierBinds
  readonly carrierRates: CarrierRates
  readonly carrierVersions: CarrierVersions
  readonly fleet: Fleet
  readonly carrierWatches: CarrierWatches
  readonly deliveryReceipts: DeliveryReceipts
  readonly promotions: Promotions
  readonly inbox: Inbox
  readonly sentMessages: SentMessages
  readonly dailySums: DailySums
  readonly bulkSends: BulkSends
  readonly templates: Templates
  readonly overview: Overview
  readonly history: History
  readonly webhooks: Webhooks
  readonly smppCredentials: SmppCredentials
  readonly smppBinds: SmppBinds
  readonly smppParts: SmppParts
  readonly smppDeliveries: SmppDeliveries
  readonly personalData: PersonalData
  readonly auditLog: AuditLog
}

/** All ports of core. Each use case requires only those that it uses. */
export interface Ports extends StoredPorts {
  readonly clock: Clock
  readonly secrets: Secrets
  readonly secretBox: SecretBox
  readonly webhookClient: WebhookClient
}
