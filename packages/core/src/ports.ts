import type { AccountRates } from './accounts/account-rates.ts'
import type { Accounts } from './accounts/accounts.ts'
import type { People } from './people/people.ts'
import type { Secrets } from './people/secrets.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { CarrierVersions } from './fleet/carrier-versions.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { ProviderConnections } from './fleet/provider-connections.ts'
import type { ClaimedBatches } from './dispatch/claimed-batches.ts'
import type { DeliveryReceipts } from './dispatch/delivery-receipts.ts'
import type { Overview } from './fleet/overview.ts'
import type { Promotions } from './dispatch/promotions.ts'
import type { Routes } from './routes/published-routes.ts'
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

/** Accounts, and the people who sign in for them or as operators. */
export interface AccountPorts {
  readonly accounts: Accounts
  readonly people: People
  readonly accountRates: AccountRates
}

export interface CreditPorts {
  readonly ledger: Ledger
  readonly prices: Prices
}

export interface MessagePorts {
  readonly messages: Messages
  readonly sentMessages: SentMessages
  readonly senders: Senders
  readonly clientRequests: ClientRequests
  readonly dailySums: DailySums
  readonly personalData: PersonalData
}

export interface BulkSendPorts {
  readonly bulkSends: BulkSends
  readonly templates: Templates
}

export interface InboxPorts {
  readonly inbox: Inbox
  readonly suppressions: Suppressions
}

export interface WebhookPorts {
  readonly webhooks: Webhooks
}

/** Ports of customers who connect over SMPP. */
export interface SmppCustomerPorts {
  readonly smppCredentials: SmppCredentials
  readonly smppBinds: SmppBinds
  readonly smppParts: SmppParts
  readonly smppDeliveries: SmppDeliveries
}

/** The configuration of carriers and routes that all processes share. */
export interface RoutePorts {
  readonly carrierVersions: CarrierVersions
  readonly routes: Routes
}

/** Messages on their way to carriers and back, and the deletion of old ones. */
export interface DispatchPorts {
  readonly claimedBatches: ClaimedBatches
  readonly deliveryReceipts: DeliveryReceipts
  readonly promotions: Promotions
  readonly history: History
}

/** Ports through which dispatching processes and operators report to each other. */
export interface FleetPorts {
  readonly fleet: Fleet
  readonly overview: Overview
}

export interface AuditPorts {
  readonly auditLog: AuditLog
}

/** Ports of the process itself: its clock, its keys and its connections to receivers of webhooks. */
export interface ProcessPorts {
  readonly clock: Clock
  readonly secrets: Secrets
  readonly secretBox: SecretBox
  readonly webhookClient: WebhookClient
  /** Undefined in a process in which no provider can be connected. */
  readonly providerConnections?: ProviderConnections | undefined
}

/** Ports that both account holders and operators need. */
interface PortsOfEverybody
  extends
    AccountPorts,
    CreditPorts,
    MessagePorts,
    InboxPorts,
    WebhookPorts,
    SmppCustomerPorts,
    RoutePorts,
    ProcessPorts {}

/** Ports of the use cases of an account holder. */
export interface HolderPorts extends PortsOfEverybody, BulkSendPorts {}

/** Ports of the use cases of an operator. */
export interface OperatorPorts extends PortsOfEverybody, DispatchPorts, FleetPorts, AuditPorts {}

/** Ports of the use cases of background processes. */
export interface ProcessingPorts
  extends
    AccountPorts,
    CreditPorts,
    MessagePorts,
    InboxPorts,
    SmppCustomerPorts,
    RoutePorts,
    DispatchPorts,
    Pick<ProcessPorts, 'clock'> {}

/** Ports that a database implements. */
export interface StoredPorts
  extends
    AccountPorts,
    CreditPorts,
    MessagePorts,
    BulkSendPorts,
    InboxPorts,
    WebhookPorts,
    SmppCustomerPorts,
    RoutePorts,
    DispatchPorts,
    FleetPorts,
    AuditPorts {}

/** All ports of core. Each use case requires only the ports that it uses. */
export interface Ports extends StoredPorts, ProcessPorts {}
