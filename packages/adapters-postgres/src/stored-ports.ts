import type { CarrierSharePorts } from '@gateway/carrier-kit'
import type { StoredPorts } from '@gateway/core'
import { postgresAccountRates, postgresRateLimits } from './accounts/postgres-rate-limits.ts'
import { postgresAccounts } from './accounts/postgres-accounts.ts'
import { postgresLoginFailures } from './people/postgres-login-failures.ts'
import { postgresSecondFactors } from './people/postgres-second-factors.ts'
import { postgresSessions } from './people/postgres-sessions.ts'
import { postgresUsers } from './people/postgres-users.ts'
import { postgresLedger } from './credits/postgres-ledger.ts'
import { postgresPrices } from './credits/postgres-prices.ts'
import { postgresClaimedBatches } from './claimed-batches/postgres-claimed-batches.ts'
import { postgresOverview } from './claimed-batches/postgres-overview.ts'
import { postgresMessages } from './messages/postgres-messages.ts'
import { postgresClientRequests } from './client-requests/postgres-client-requests.ts'
import { postgresInbox } from './inbox/postgres-inbox.ts'
import { postgresHistory } from './history/postgres-history.ts'
import { postgresCarrierBinds, postgresCarrierRates } from './carriers/postgres-carrier-shares.ts'
import { postgresCarrierVersions } from './carriers/postgres-carrier-versions.ts'
import { postgresFleet } from './carriers/postgres-fleet.ts'
import { postgresPromotions } from './promotions/postgres-promotions.ts'
import { postgresRoutes } from './routes/postgres-routes.ts'
import { postgresSenders } from './senders/postgres-senders.ts'
import { postgresDailySums, postgresSentMessages } from './messages/postgres-sent-messages.ts'
import { postgresBulkSends } from './messages/postgres-bulk-sends.ts'
import { postgresTemplates } from './messages/postgres-templates.ts'
import { postgresAuditLog } from './audit/postgres-audit-log.ts'
import { postgresOperators } from './people/postgres-operators.ts'
import { postgresPersonalData } from './personal-data/postgres-personal-data.ts'
import { postgresDeliveryReceipts } from './delivery-receipts/postgres-delivery-receipts.ts'
import { postgresWebhooks } from './webhooks/postgres-webhooks.ts'
import { postgresSmppBinds } from './smpp-customers/postgres-smpp-binds.ts'
import { postgresSmppCredentials } from './smpp-customers/postgres-smpp-credentials.ts'
import { postgresSmppDeliveries } from './smpp-customers/postgres-smpp-deliveries.ts'
import { postgresSmppParts } from './smpp-customers/postgres-smpp-parts.ts'
import { postgresSuppressions } from './suppressions/postgres-suppressions.ts'
import type { Changes } from './changes.ts'
import { createContext } from './context.ts'
import type { Pools } from './pools.ts'
import type { Log, Settings } from './settings.ts'
import type { PostgresWakeups } from './claimed-batches/postgres-wakeups.ts'

/** Every port that this adapter implements. */
export type DatabasePorts = StoredPorts & CarrierSharePorts

interface Connected {
  readonly pools: Pools
  readonly changes: Changes
  readonly wakeups: PostgresWakeups
  readonly settings: Settings
  readonly log: Log
}

/** Creates all stored ports over existing connections, with caches of their own. */
export function storedPorts({ pools, changes, wakeups, settings, log }: Connected): DatabasePorts {
  const context = createContext(pools, changes, settings, log)
  // Ports with a waiting caller fail at once while the database is unreachable. The dispatcher's ports retry longer,
  // because a message whose handling is abandoned halfway ends with an unknown outcome.
  const { hot, ordinary } = pools
  const failingFast = { ...pools, hot: hot.failFast, ordinary: ordinary.failFast }
  const prompt = createContext(failingFast, changes, settings, log)
  const routes = postgresRoutes(prompt)
  return {
    accounts: postgresAccounts(prompt),
    people: {
      users: postgresUsers(prompt),
      sessions: postgresSessions(prompt),
      secondFactors: postgresSecondFactors(prompt),
      loginFailures: postgresLoginFailures(prompt),
      operators: postgresOperators(prompt),
    },
    accountRates: { ...postgresRateLimits(context), ...postgresAccountRates(prompt) },
    ledger: postgresLedger(prompt),
    prices: postgresPrices(prompt),
    suppressions: postgresSuppressions(prompt),
    senders: postgresSenders(prompt),
    routes,
    messages: postgresMessages(prompt, routes),
    clientRequests: postgresClientRequests(prompt),
    claimedBatches: postgresClaimedBatches(context, wakeups),
    carrierBinds: postgresCarrierBinds(prompt),
    carrierRates: postgresCarrierRates(prompt),
    carrierVersions: postgresCarrierVersions(prompt),
    fleet: postgresFleet(prompt),
    deliveryReceipts: postgresDeliveryReceipts(context),
    promotions: postgresPromotions(context),
    inbox: postgresInbox(prompt, routes),
    sentMessages: postgresSentMessages(prompt),
    dailySums: postgresDailySums(context),
    bulkSends: postgresBulkSends(prompt),
    templates: postgresTemplates(prompt),
    overview: postgresOverview(prompt),
    history: postgresHistory(context),
    webhooks: postgresWebhooks(prompt),
    smppCredentials: postgresSmppCredentials(prompt),
    smppBinds: postgresSmppBinds(prompt),
    smppParts: postgresSmppParts(prompt, routes),
    smppDeliveries: postgresSmppDeliveries(context),
    personalData: postgresPersonalData(prompt),
    auditLog: postgresAuditLog(prompt),
  }
}
