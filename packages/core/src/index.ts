// Three factories, one per actor.
export { createGateway, type Gateway } from './gateway.ts'
export { createProcessing, type Processing } from './processing.ts'
export { createBackOffice, type BackOffice } from './back-office.ts'
export { gatewayDefaults, type GatewaySettings } from './gateway-settings.ts'
export { processingDefaults, type ProcessingSettings } from './processing-settings.ts'
export { createDispatcher, type Dispatcher } from './carrier/dispatcher.ts'
export { dispatcherDefaults, type DispatcherSettings } from './carrier/dispatcher-settings.ts'
export { limits } from './limits.ts'
export { NothingDoneError } from './nothing-done.ts'
export type { Ports, StoredPorts } from './ports.ts'

// Accounts.
export {
  accountId,
  isLogin,
  loginKey,
  type Account,
  type AccountId,
  type NewAccount,
  type Restrictions,
} from './account/account.ts'
export type { ClosedAccount } from './account/close-account.ts'
export { may } from './account/may.ts'
export {
  parentRefusal,
  type AccountChange,
  type Accounts,
  type AccountWithBalance,
  type ChangeRefusal,
  type OpenedAccount,
  type OpenRefusal,
} from './account/accounts.ts'
export { isValid, keyId, type ApiKey, type KeyHash, type KeyId, type NewApiKey } from './account/api-key.ts'
export { toldRatesMax, type AccountActivity, type AccountRate, type AccountRates } from './account/account-rates.ts'
export { busiestAccountsMax, createBusyAccounts, type BusyAccounts } from './account/busy-accounts.ts'
export type { AuthenticationRefusal, Credentials } from './account/authenticate.ts'
export type { ComesFrom } from './account/comes-from.ts'
export type { IssuedKey } from './account/issue-api-key.ts'
export type { CountedLoginFailure, LoginFailureLimit, LoginFailures } from './account/login-failures.ts'
export { isPassword, type AccountToOpen } from './account/open-account.ts'
export { burstSeconds, type OverLimit, type Rated, type RateLimits } from './account/rate-limits.ts'
export type { Login, PasswordAttempt, PasswordHash, Secrets, TooManyFailures } from './account/secrets.ts'

// Credits.
export {
  credits,
  formatCredits,
  minus,
  parseCredits,
  plus,
  times,
  wholeCredits,
  type Credits,
} from './credits/credits.ts'
export {
  balanceMax,
  type Ledger,
  type LedgerCheck,
  type LedgerDifference,
  type RefundByHand,
  type Refunded,
  type RefundRefusal,
  type Transfer,
  type TransferFailure,
} from './credits/ledger.ts'
export type { Cause, Movement, Period } from './credits/movement.ts'
export type { ListedPrice } from './credits/list-prices.ts'
export { isPrefix, isPrice, priceFor, priceMax, type PriceTable } from './credits/price.ts'
export type { Prices } from './credits/prices.ts'
export { spend, type Spending } from './credits/spend.ts'
export type { TransferRefusal, WantedTransfer } from './credits/transfer-credits.ts'

// Requests that come again.
export { keyCharactersMax, readIdempotencyKey, type IdempotencyKey } from './retry/idempotency-key.ts'
export {
  firstAnswerSeconds,
  type ClientRequest,
  type ClientRequests,
  type FirstAnswer,
} from './retry/client-requests.ts'

// Messages.
export { bodyOf, partsOf, type Body } from './message/body.ts'
export { gsm7Alphabet, gsm7Extension } from './message/gsm7.ts'
export { messageId, parseMessageId, type MessageId } from './message/message-id.ts'
export { deliveryState, hasOutcome, type DeliveryState } from './message/delivery-state.ts'
export type { FoundMessages, WantedMessages } from './message/find-messages.ts'
export type { FoundLocation, FoundMessage, MessageSearch } from './message/found-message.ts'
export type { DroppedHistory, History } from './message/history.ts'
export type {
  Acceptance,
  Deletion,
  KnownStatus,
  Messages,
  MessageStatus,
  Order,
  OrderedRecipient,
  OrderedText,
  ScheduledMessage,
} from './message/messages.ts'
export {
  INCIDENT,
  refundsOf,
  traceLinesMax,
  type ClaimedLocation,
  type DecidedLocation,
  type Incident,
  type MessageLocation,
  type MessageTrace,
  type TracedPart,
  type TracedReceipt,
  type TracedRefund,
  type TracedRoute,
  type TracedSend,
  type TracedText,
} from './message/message-trace.ts'
export { parseMsisdn, type Msisdn } from './message/msisdn.ts'
export type { Page, Paged } from './message/page.ts'
export {
  isAhead,
  isTaken,
  isTooOld,
  statusOf,
  undeletedOutcome,
  type MessageFacts,
  type Outcome,
} from './message/message-facts.ts'
export { preferredBy } from './message/choose-sender.ts'
export { defaultSenders, parseSenderAddress, type SenderAddress } from './message/sender-address.ts'
export type { AssignedCode, Senders } from './message/senders.ts'
export { whyWaiting, type Waiting, type WaitingReason } from './message/why-waiting.ts'
export type { MessageTraces } from './message/message-traces.ts'
export type { Recipient, TextToSend } from './message/screen-texts.ts'
export type { Refusal } from './message/screening.ts'
export type { AcceptedRecipient, RefusedRecipient, SendResults, SentRecipient } from './message/send-results.ts'
export { changeableCodes, isFinal, OUTCOME, outcomeCode, stateOf, type OutcomeCode } from './message/status-code.ts'

// What people write.
export {
  deduplicationKeyOf,
  deduplicationKeyOfOffer,
  deduplicationSeconds,
  partGroupKeyOf,
  type InboundMessage,
  type InboundMessagePart,
} from './inbox/inbound-message.ts'
export {
  offerAgainDays,
  type InboundMessageId,
  type Inbox,
  type InboxMessage,
  type InboxPart,
  type Received,
  type Taken,
  type Taking,
  type UnownedMessage,
} from './inbox/inbox.ts'
export { addPart, isPart, joinParts, type AddedPart, type WaitingPart } from './inbox/join-parts.ts'
export { readInboundMessage, type ReceivedText } from './inbox/read-inbound-message.ts'
export { confirmationOf, defaultConfirmation } from './inbox/receive.ts'
export type { TakenMessages } from './inbox/take-inbox.ts'
export { optKeywordOf, type OptKeyword } from './inbox/opt-keyword.ts'

// Suppressions.
export type { BlockReason } from './suppression/block-number.ts'
export type {
  ListedSuppression,
  Suppression,
  SuppressionEntry,
  SuppressionKey,
  SuppressionScope,
} from './suppression/suppression.ts'
export { manualOptOutText, type ImportedOptOut, type OptOut, type OptOutReply } from './suppression/opt-out.ts'
export type { Suppressions } from './suppression/suppressions.ts'

// Carriers.
export { works, type Work } from './carrier/stall.ts'
export type {
  Availability,
  Carrier,
  CarrierHandlers,
  CarrierStatus,
  Submission,
  SubmissionAnswer,
} from './carrier/carrier.ts'
export { isSameSend, laneOf } from './carrier/lane.ts'
export { carrierId, type CarrierId } from './carrier/carrier-id.ts'
export { claimableQueues, createRouteTurns, type RouteTurns } from './carrier/route-turns.ts'
export { chooseRoute, isForAll, type Route, type RouteCarrier, type RoutedMessage } from './carrier/routes.ts'
export { checkRoutes, refusedRoutes, type RouteProblem } from './carrier/check-routes.ts'
export type { CarrierBinds, LeasedBinds, WantedBinds } from './carrier/carrier-binds.ts'
export {
  carrierStaleSeconds,
  type CarrierReport,
  type CarrierStatuses,
  type ReportingProcess,
  type ToldCarrier,
} from './carrier/carrier-statuses.ts'
export type {
  CarrierConflict,
  CarrierUser,
  CarrierVersion,
  CarrierVersions,
  NewCarrierVersion,
} from './carrier/carrier-versions.ts'
export {
  byRoute,
  noRoute,
  routeNumberOf,
  type PublishedRoute,
  type QueueNumber,
  type RouteNumber,
  type RouteQueue,
  type Routes,
} from './carrier/published-routes.ts'
export { handoverCode, isExpired } from './carrier/outcomes.ts'
export { referencesOf, type CarrierReferences } from './carrier/message-parts.ts'
export type {
  ClaimedBatch,
  ClaimedBatches,
  ClaimedBatchId,
  ClaimedMessage,
  DispatcherId,
  Handover,
  Lane,
  Mark,
  ProcessPlace,
  Recorded,
  Settled,
  SettledCode,
  Wanted,
} from './carrier/claimed-batches.ts'
export type { CarrierLoad, Overview, RunningDispatcher, WaitingWork } from './carrier/overview.ts'
export type { DeliveryReceipt, DeliveryReceiptCode } from './carrier/delivery-receipt.ts'
export { adoptionWindow } from './carrier/adopt-delivery-receipts.ts'
export {
  countingReceipt,
  guessesApart,
  receiptMatching,
  type KeptDeliveryReceipt,
} from './carrier/match-delivery-receipt.ts'
export type { DeliveryReceipts } from './carrier/delivery-receipts.ts'
export type { Asleep, Sleeper, Wakeups } from './carrier/wakeups.ts'

// Events that are pushed to account holders.
export {
  listSizeMax,
  webhookDefaults,
  webhookId,
  webhookIdMax,
  webhooksMax,
  type NewWebhook,
  type PauseReason,
  type PreviousSecret,
  type SigningSecrets,
  type Webhook,
  type WebhookChange,
  type WebhookId,
  type WebhookState,
} from './webhook/webhook.ts'
export {
  defaultEventTypes,
  eventCount,
  eventsOf,
  eventTypeOf,
  inboundEventId,
  messageEventId,
  messageSequence,
  optOutEventId,
  testEventId,
  webhookEventTypes,
  type EventGroup,
  type LearntFrom,
  type MessageEvents,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventId,
  type WebhookEventType,
} from './webhook/webhook-event.ts'
export {
  deadListDays,
  failingDays,
  jitterShareMax,
  nextTry,
  nextTryReason,
  retryPausesSeconds,
  verdictOf,
  type NextTryReason,
  type PushVerdict,
} from './webhook/push-schedule.ts'
export {
  OtherKeyError,
  overlapHoursDefault,
  overlapHoursMax,
  previousUntil,
  requireKeyInUse,
  secretsMax,
  type SealedSecret,
  type SecretBox,
  type WebhookWithSecret,
} from './webhook/signing-secrets.ts'
export type { ShownWebhook, WantedWebhook, WebhookRefusal } from './webhook/configure-webhooks.ts'
export {
  createEventPusher,
  pushDefaults,
  type EventPusher,
  type PushCounts,
  type PushOptions,
  type PushSettings,
} from './webhook/push-events.ts'
export type { ErasedNumber, HeldUp } from './personal-data/erase-number.ts'
export type { HeldMessage, NumberData } from './personal-data/export-number.ts'
export {
  erasedNumber,
  erasureSteps,
  firstErasureStep,
  formsOf,
  holdsUp,
  nextKindOf,
  nothingErased,
  type ErasedCounts,
  type Erasure,
  type ErasureId,
  type ErasureStep,
  type HeldContact,
  type HeldInbound,
  type HeldSuppression,
  type PersonalData,
} from './personal-data/personal-data.ts'
export type { PushAnswer, PushFailure, PushRequest, UrlRefusal, WebhookClient } from './webhook/webhook-client.ts'
export {
  endpointsMax,
  webhookConditions,
  type ClaimedList,
  type Claiming,
  type EventListId,
  type PushAttempt,
  type PushResult,
  type Replay,
  type ReplayId,
  type ReplayState,
  type ReplayTask,
  type WebhookBacklog,
  type WebhookCondition,
  type Webhooks,
  type WebhookTotal,
} from './webhook/webhooks.ts'

// Time.
export type { Clock } from './time/clock.ts'
export { formatDate, formatMinute, formatStamp, formatTime, parseMinute } from './time/gateway-time.ts'
export { daysBefore, instant, secondsAfter, type Instant } from './time/instant.ts'
