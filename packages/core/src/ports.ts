import type { AccountRates, RateLimits } from './account/account-rates.ts'
import type { Accounts } from './account/accounts.ts'
import type { SecondFactors } from './account/second-factors.ts'
import type { LoginFailures, Secrets } from './account/secrets.ts'
import type { Sessions } from './account/sessions.ts'
import type { Users } from './account/users.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { CarrierBinds } from './carrier/carrier-binds.ts'
import type { CarrierFigures } from './carrier/carrier-figures.ts'
import type { CarrierModes } from './carrier/carrier-modes.ts'
import type { CarrierRates } from './carrier/carrier-rates.ts'
import type { CarrierStatuses } from './carrier/carrier-statuses.ts'
import type { CarrierVersions } from './carrier/carrier-versions.ts'
import type { CarrierWatches } from './carrier/carrier-watches.ts'
import type { ClaimedBatches } from './carrier/claimed-batches.ts'
import type { DeliveryReceipts } from './carrier/delivery-receipts.ts'
import type { Overview } from './carrier/overview.ts'
import type { Routes } from './carrier/published-routes.ts'
import type { UnknownMessages } from './carrier/unknown-messages.ts'
import type { UnreadReceipts } from './carrier/unread-receipts.ts'
import type { Wakeups } from './carrier/wakeups.ts'
import type { Ledger } from './credits/ledger.ts'
import type { Prices } from './credits/prices.ts'
import type { Operators } from './operator/operators.ts'
import type { Conversations } from './inbox/conversations.ts'
import type { Inbox } from './inbox/inbox.ts'
import type { BulkSends } from './message/bulk-sends.ts'
import type { DailySums } from './message/daily-sums.ts'
import type { History } from './message/history.ts'
import type { MessageTraces } from './message/message-traces.ts'
import type { Messages } from './message/messages.ts'
import type { Senders } from './message/senders.ts'
import type { SentMessages } from './message/sent-messages.ts'
import type { Templates } from './message/templates.ts'
import type { PersonalData } from './personal-data/personal-data.ts'
import type { ClientRequests } from './retry/client-requests.ts'
import type { Suppressions } from './suppression/suppressions.ts'
import type { Clock } from './time/instant.ts'
import type { SecretBox } from './webhook/secret-box.ts'
import type { WebhookClient } from './webhook/webhook-client.ts'
import type { Webhooks } from './webhook/webhooks.ts'

/** Ports that a database stands behind. */
export interface StoredPorts {
  readonly accounts: Accounts
  readonly rateLimits: RateLimits
  readonly loginFailures: LoginFailures
  readonly sessions: Sessions
  readonly users: Users
  readonly secondFactors: SecondFactors
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
  readonly carrierModes: CarrierModes
  readonly carrierFigures: CarrierFigures
  readonly carrierStatuses: CarrierStatuses
  readonly carrierVersions: CarrierVersions
  readonly carrierWatches: CarrierWatches
  readonly deliveryReceipts: DeliveryReceipts
  readonly unreadReceipts: UnreadReceipts
  readonly unknownMessages: UnknownMessages
  readonly inbox: Inbox
  readonly conversations: Conversations
  readonly messageTraces: MessageTraces
  readonly sentMessages: SentMessages
  readonly dailySums: DailySums
  readonly bulkSends: BulkSends
  readonly templates: Templates
  readonly overview: Overview
  readonly history: History
  readonly webhooks: Webhooks
  readonly personalData: PersonalData
  readonly auditLog: AuditLog
  readonly operators: Operators
}

/** Everything that core asks of the world; each use case asks only for what it uses. */
export interface Ports extends StoredPorts {
  readonly clock: Clock
  readonly secrets: Secrets
  readonly secretBox: SecretBox
  readonly webhookClient: WebhookClient
}
