// Builders of test data, helpers for events and random numbers, and functions that wait.
export {
  aBody,
  aNewAccount,
  aNumber,
  anAccount,
  anAddress,
  anAnswerDraft,
  anOrder,
  aSender,
  numbers,
  reportCarriers,
  withoutSettings,
  type AccountOptions,
  type TextOptions,
} from './builders.ts'
export {
  aCarrierId,
  aDispatcherId,
  aClaimedBatchId,
  aKeyId,
  aMessageId,
  aPasswordHash,
  anAccountId,
} from './builders.ts'
export { aBind, aCredential, aCustomer, aPart, aProcess } from './smpp.ts'
export { arrive, assign, write } from './correspond.ts'
export { casesOf, chanceOf, runsEveryForm, testChance, testSeed, type Chance } from './chance.ts'
export { eventsOf } from './events-of.ts'
export { until, untilInTurns } from './until.ts'

// Memory adapters of every port. They are complete adapters, not mocks.
export { memoryPorts, memoryStoredPorts, type MemoryPortsOptions } from './memory/ports.ts'
export { memoryStore, type MemoryStore } from './memory/store.ts'
export { memoryAccounts } from './memory/accounts.ts'
export { memoryClientRequests } from './memory/ledger.ts'
export { memoryClaimedBatches } from './memory/claimed-batches.ts'
export { memoryHistory } from './memory/history.ts'
export { memoryInbox } from './memory/inbox.ts'
export { memoryLedger } from './memory/ledger.ts'
export { memoryLoginFailures } from './memory/accounts.ts'
export { memoryMessages } from './memory/messages.ts'
export { memoryOverview } from './memory/overview.ts'
export { memoryPrices } from './memory/ledger.ts'
export { memoryDeliveryReceipts } from './memory/delivery-receipts.ts'
export { promoteStandby } from './memory/promotions.ts'
export { memorySenders } from './memory/messages.ts'
export { memorySuppressions } from './memory/suppressions.ts'
export { memoryWebhooks } from './memory/webhooks.ts'
export { memorySecretBox } from './memory/secrets.ts'
export { scriptedWebhookClient, type ScriptedWebhookClient } from './memory/scripted-webhook-client.ts'
export { memorySecrets, totpCode, type MemorySecretsSettings } from './memory/secrets.ts'
export { atomic } from './memory/atomic.ts'
export { realClock, steppingClock, type SteppingClock } from './memory/clock.ts'
export {
  scriptedCarrier,
  type ScriptedOutcome,
  type ScriptedCarrier,
  type ScriptedCarrierOptions,
} from './memory/scripted-carrier.ts'
