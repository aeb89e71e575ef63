import {
  accountsContract,
  bulkSendsContract,
  templatesContract,
  carrierBindsContract,
  carrierFiguresContract,
  auditLogContract,
  carrierModesContract,
  carrierRatesContract,
  accountRatesContract,
  carrierStatusesContract,
  carrierVersionsContract,
  carrierWatchesContract,
  claimedBatchesContract,
  clientRequestsContract,
  historyContract,
  conversationsContract,
  dailySumsContract,
  inboxContract,
  ledgerContract,
  loginFailuresContract,
  messagesContract,
  operatorsContract,
  secondFactorsContract,
  overviewContract,
  personalDataContract,
  pricesContract,
  rateLimitsContract,
  deliveryReceiptsContract,
  routesContract,
  sendersContract,
  sentMessagesContract,
  sessionsContract,
  messageTracesContract,
  suppressionsContract,
  usersContract,
  unknownMessagesContract,
  unreadReceiptsContract,
  wakeupsContract,
  webhooksContract,
  type Contract,
} from '@gateway/core/contracts'
import type { StoredPorts } from '@gateway/core'
import { freshDatabase } from '../testing/fresh-database.ts'
import { postgresPorts } from './postgres-ports.ts'
import { patientSettings } from '../testing/patient-settings.ts'

const contracts: Readonly<Record<string, Contract<StoredPorts>>> = {
  Accounts: accountsContract,
  Ledger: ledgerContract,
  Prices: pricesContract,
  AuditLog: auditLogContract,
  RateLimits: rateLimitsContract,
  LoginFailures: loginFailuresContract,
  Sessions: sessionsContract,
  Users: usersContract,
  SentMessages: sentMessagesContract,
  BulkSends: bulkSendsContract,
  Templates: templatesContract,
  Suppressions: suppressionsContract,
  Messages: messagesContract,
  ClientRequests: clientRequestsContract,
  ClaimedBatches: claimedBatchesContract,
  CarrierBinds: carrierBindsContract,
  CarrierRates: carrierRatesContract,
  CarrierModes: carrierModesContract,
  CarrierFigures: carrierFiguresContract,
  AccountRates: accountRatesContract,
  CarrierStatuses: carrierStatusesContract,
  CarrierVersions: carrierVersionsContract,
  CarrierWatches: carrierWatchesContract,
  Wakeups: wakeupsContract,
  DeliveryReceipts: deliveryReceiptsContract,
  UnreadReceipts: unreadReceiptsContract,
  UnknownMessages: unknownMessagesContract,
  MessageTraces: messageTracesContract,
  Operators: operatorsContract,
  SecondFactors: secondFactorsContract,
  Overview: overviewContract,
  Routes: routesContract,
  Senders: sendersContract,
  Conversations: conversationsContract,
  DailySums: dailySumsContract,
  Inbox: inboxContract,
  History: historyContract,
  Webhooks: webhooksContract,
  PersonalData: personalDataContract,
}

describe.each(Object.entries(contracts))('%s', (_, contract) => {
  test.each(Object.entries(contract))('%s', async (_, check) => {
    const database = await freshDatabase()
    const { ports, close } = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
    try {
      await check(ports)
    } finally {
      await close()
      await database.drop()
    }
  })
})
