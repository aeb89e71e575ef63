// Three factories, one per actor.
export { createGateway, gatewayDefaults, type Gateway, type GatewaySettings } from './gateway.ts'
export { createProcessing, processingDefaults, type Processing, type ProcessingSettings } from './processing.ts'
export { createBackOffice, type AccountFactor, type BackOffice } from './back-office.ts'
export { createDispatcher, type Dispatcher } from './carrier/dispatcher.ts'
export { dispatcherDefaults, type DispatcherSettings } from './carrier/dispatcher-settings.ts'
export { limits } from './limits.ts'
export { NothingDoneError } from './nothing-done.ts'
export type { Ports, StoredPorts } from './ports.ts'

// What operators change.
export {
  auditSequence,
  type AuditActor,
  type AuditCheck,
  type AuditDetail,
  type AuditedChange,
  type AuditEntry,
  type AuditLog,
  type AuditOutcome,
  type AuditSearch,
  type AuditSequence,
  type AuditValue,
  type ListedChange,
} from './audit/audit-log.ts'
export { explainRoute, type UnmetCondition } from './carrier/routes.ts'
export {
  auditedBackOffice,
  changesBy,
  mayDo,
  NotOfRoleError,
  operatorAccess,
  withoutSomeDigits,
  type MakeChange,
  type OperatorAccess,
} from './audit/audited-back-office.ts'

export {
  holderAccess,
  mayHolder,
  roleOf,
  type HolderAccess,
  type HolderChange,
  type HolderRole,
} from './audit/audited-gateway.ts'

// Operators who sign in.
export {
  operatorRoles,
  type Operator,
  type OperatorId,
  type OperatorLogin,
  type OperatorRole,
  type Operators,
  type ActsAs,
  type OperatorSession,
} from './operator/operators.ts'
export { actingSeconds, type ActingOperator, type OperatorPair } from './operator/sign-in.ts'

// Accounts.
export {
  accountId,
  isLogin,
  isValid,
  keyId,
  loginKey,
  may,
  type Account,
  type AccountId,
  type ApiKey,
  type ComesFrom,
  type KeyHash,
  type KeyId,
  type NewAccount,
  type NewApiKey,
  type Restrictions,
} from './account/account.ts'
export type { ClosedAccount } from './account/close-account.ts'
export {
  parentRefusal,
  type AccountChange,
  type Accounts,
  type AccountWithBalance,
  type ChangeRefusal,
  type OpenedAccount,
  type OpenRefusal,
} from './account/accounts.ts'
export {
  burstSeconds,
  busiestAccountsMax,
  createBusyAccounts,
  toldRatesMax,
  type AccountActivity,
  type AccountRate,
  type AccountRates,
  type BusyAccounts,
  type OverLimit,
  type Rated,
  type RateLimits,
} from './account/account-rates.ts'
export type { AuthenticationRefusal, Credentials } from './account/authenticate.ts'
export type { AccountToOpen, IssuedKey, KeyWanted } from './account/change-account.ts'
export type { NewSession, Session, SessionBounds, SessionId, SessionOwner, Sessions } from './account/sessions.ts'
export {
  userRoles,
  type PasswordLink,
  type User,
  type UserId,
  type UserLogin,
  type UserRole,
  type Users,
} from './account/users.ts'
export { invitationSeconds, type Invitation } from './account/manage-users.ts'
export { isPassword, newPasswordMin, type NewPasswordRefusal } from './account/new-password.ts'
export type { Browser, OpenedSession } from './account/sign-in-steps.ts'
export type { CodeRefusal, FactorToSetUp, RecoveryCodes } from './account/second-factor.ts'
export { factorOwner, type FactorOwner, type SecondFactor, type SecondFactors } from './account/second-factors.ts'
export type { AskedForCode } from './account/sign-in-steps.ts'
export type { Holder, SignedIn } from './account/sign-in.ts'
export type {
  CountedLoginFailure,
  Login,
  LoginFailureLimit,
  LoginFailures,
  PasswordAttempt,
  PasswordOwner,
  PasswordUse,
  PasswordHash,
  Secrets,
  TooManyFailures,
} from './account/secrets.ts'

// Credits.
export {
  credits,
  formatCredits,
  minus,
  parseCredits,
  plus,
  spend,
  times,
  wholeCredits,
  type Credits,
  type Spending,
} from './credits/credits.ts'
export {
  balanceMax,
  type Cause,
  type Ledger,
  type LedgerCheck,
  type LedgerDifference,
  type Movement,
  type Period,
  type RefundByHand,
  type Refunded,
  type RefundRefusal,
  type Transfer,
  type TransferFailure,
} from './credits/ledger.ts'
export type { ListedPrice } from './credits/set-prices.ts'
export { isPrefix, isPrice, priceFor, priceMax, type Prices, type PriceTable } from './credits/prices.ts'
export type { TransferRefusal, WantedTransfer } from './credits/move-credits.ts'

// Requests that come again.
export {
  firstAnswerSeconds,
  keyCharactersMax,
  readIdempotencyKey,
  type ClientRequest,
  type ClientRequests,
  type FirstAnswer,
  type IdempotencyKey,
} from './retry/client-requests.ts'

// Messages.
export {
  bodyOf,
  costlyCharacters,
  gsm7Alphabet,
  gsm7Extension,
  partsOf,
  type Body,
  type CostlyCharacters,
} from './message/body.ts'
export {
  messageId,
  parseMessageId,
  readReference,
  referenceCharactersMax,
  withReference,
  type Acceptance,
  type Deletion,
  type KnownStatus,
  type MessageId,
  type MessageReference,
  type Messages,
  type MessageStatus,
  type Order,
  type OrderedRecipient,
  type OrderedText,
  type Page,
  type Paged,
  type ScheduledMessage,
} from './message/messages.ts'
export {
  deliveryState,
  hasOutcome,
  isAhead,
  isTaken,
  isTooOld,
  statusOf,
  undeletedOutcome,
  type DeliveryState,
  type MessageFacts,
  type Outcome,
} from './message/message-facts.ts'
export {
  isExpired,
  readValidity,
  validityMinutes,
  validityMinutesMax,
  type Expiry,
  type ValidityMinutes,
} from './message/send-options.ts'
export { priorityMax, priorityOf, readFlash, readPriority, type Priority } from './message/send-options.ts'
export type { FoundMessages, WantedMessages } from './message/follow-messages.ts'
export {
  INCIDENT,
  refundsOf,
  traceLinesMax,
  type ClaimedLocation,
  type DecidedLocation,
  type FoundLocation,
  type FoundMessage,
  type Incident,
  type MessageLocation,
  type MessageSearch,
  type SearchBounds,
  type WhichMessages,
  type MessageTrace,
  type MessageTraces,
  type TracedPart,
  type TracedReceipt,
  type TracedRefund,
  type TracedRoute,
  type TracedSend,
  type TracedText,
} from './message/message-traces.ts'
export type { DroppedHistory, History } from './message/history.ts'
export {
  defaultSenders,
  parseMsisdn,
  parseSenderAddress,
  parseStoredMsisdn,
  type Msisdn,
  type SenderAddress,
} from './message/msisdn.ts'
export {
  isNameOfSender,
  preferredBy,
  readSender,
  senderOver,
  type SenderOver,
  type AllowedSender,
  type AssignedCode,
  type Senders,
} from './message/senders.ts'
export { whyWaiting, type Waiting, type WaitingReason } from './message/why-waiting.ts'
export type { Quote } from './message/quote-messages.ts'
export {
  bulkSendLimits,
  type BulkCall,
  type BulkRow,
  type BulkSend,
  type BulkSendId,
  type BulkSends,
  type BulkSendState,
  type EndedCall,
  type IdRun,
  type NewBulkSend,
  type OutcomeCount,
  type RowRefusal,
} from './message/bulk-sends.ts'
export { draftProblem, fieldsMissing, fieldsOf, fillIn, type BulkQuote } from './message/send-in-bulk.ts'
export {
  templateLimits,
  type NewTemplate,
  type Template,
  type TemplateId,
  type Templates,
} from './message/templates.ts'
export type { ScheduledChange, WantedChange } from './message/change-scheduled.ts'
export type { TemplateProblem } from './message/keep-templates.ts'
export {
  dailySumDays,
  type DailySum,
  type DailySumDifference,
  type DailySums,
  type Traffic,
} from './message/daily-sums.ts'
export { sameSendMinutes, type LastSend } from './message/sent-messages.ts'
export type { SentMessage, SentMessages, SentPage } from './message/sent-messages.ts'
export type { ShownMessage, ShownPage, ToldMessage } from './message/show-sent.ts'
export type { Refusal } from './message/refusal.ts'
export type { Recipient, ScreenedRecipient, TextToSend } from './message/screen-texts.ts'
export type { AcceptedRecipient, RefusedRecipient, SendResults, SentRecipient } from './message/send-messages.ts'
export { changeableCodes, isFinal, OUTCOME, outcomeCode, stateOf, type OutcomeCode } from './message/status-code.ts'

// What people write.
export {
  addPart,
  deduplicationKeyOf,
  deduplicationKeyOfOffer,
  deduplicationSeconds,
  isPart,
  joinParts,
  partGroupKeyOf,
  type AddedPart,
  type InboundMessage,
  type InboundMessagePart,
  type WaitingPart,
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
export {
  confirmationOf,
  defaultConfirmation,
  optKeywordOf,
  readInboundMessage,
  type OptKeyword,
  type ReceivedText,
} from './inbox/receive.ts'
export type { Conversation, Conversations, ConversationsPage, ReceivedFrom } from './inbox/conversations.ts'
export {
  unreadMax,
  type ConversationLine,
  type ConversationPlace,
  type ShownConversation,
} from './inbox/show-conversations.ts'
export type { TakenMessages } from './inbox/take-inbox.ts'

// Suppressions.
export type { BlockReason } from './suppression/change-suppressions.ts'
export {
  manualOptOutText,
  type ImportedOptOut,
  type ListedSuppression,
  type OptOut,
  type OptOutReply,
  type Suppression,
  type SuppressionEntry,
  type SuppressionKey,
  type Suppressions,
  type SuppressionScope,
} from './suppression/suppressions.ts'

// Carriers.
export { works, type Work } from './carrier/stall.ts'
export type {
  Availability,
  Carrier,
  CarrierMode,
  CarrierHandlers,
  CarrierStatus,
  CircuitStatus,
  Submission,
  SubmissionAnswer,
} from './carrier/carrier.ts'
export { isSameSend, laneOf } from './carrier/lane.ts'
export { carrierId, type CarrierId } from './carrier/carrier-id.ts'
export {
  circuitAt,
  circuitDefaults,
  circuitRoom,
  isDoubtful,
  newCircuit,
  pauseLeft,
  settledBy,
  submittedTo,
  type Circuit,
  type CircuitBounds,
  type CircuitOutcome,
  type CircuitProblem,
  type CircuitState,
  type Departure,
} from './carrier/circuit-breaker.ts'
export { claimableQueues, createRouteTurns, type RouteTurns } from './carrier/route-turns.ts'
export { chooseRoute, isForAll, type Route, type RouteCarrier, type RoutedMessage } from './carrier/routes.ts'
export { checkRoutes, refusedRoutes, type RouteProblem } from './carrier/check-routes.ts'
export { createHistogram, type Histogram, type HistogramCounts } from './carrier/histogram.ts'
export {
  createCarrierMeter,
  type CarrierFigures,
  type CarrierMeter,
  type OutcomeCounts,
  type PrefixCounts,
  type PrefixFigures,
} from './carrier/carrier-figures.ts'
export { holdable, type CarrierModes, type HeldCarrier, type HoldableCarrier } from './carrier/carrier-modes.ts'
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
  queuesOf,
  routeNumberOf,
  type PublishedRoute,
  type QueueNumber,
  type RouteNumber,
  type RouteQueue,
  type Routes,
} from './carrier/published-routes.ts'
export { handoverCode } from './carrier/outcomes.ts'
export { referencesOf, type CarrierReferences } from './carrier/delivery-receipt.ts'
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
export {
  fairShares,
  renewedShare,
  type CarrierRates,
  type LeasedRate,
  type WantedRate,
} from './carrier/carrier-rates.ts'
export type { CarrierWatch, CarrierWatches, ObservedPdu, PduObserver, WatchedPdu } from './carrier/carrier-watches.ts'
export type { CarrierLoad, Overview, RunningDispatcher, WaitingRoute, WaitingWork } from './carrier/overview.ts'
export type { DeliveryReceipt, DeliveryReceiptCode } from './carrier/delivery-receipt.ts'
export { adoptionWindow } from './carrier/match-delivery-receipt.ts'
export { countingReceipt, guessesApart, receiptMatching } from './carrier/match-delivery-receipt.ts'
export type { DeliveryReceipts, UnmatchedReceipt } from './carrier/delivery-receipts.ts'
export {
  unreadReceiptBounds,
  type KeptUnreadReceipt,
  type UnreadReceipt,
  type UnreadReceiptFilter,
  type UnreadReceiptId,
  type UnreadReceipts,
} from './carrier/unread-receipts.ts'
export {
  unknownSecondsMax,
  type UnknownMessage,
  type UnknownMessages,
  type WantedUnknown,
} from './carrier/unknown-messages.ts'
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
  eventIdsOf,
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
} from './webhook/push-schedule.ts'
export {
  OtherKeyError,
  overlapHoursDefault,
  overlapHoursMax,
  previousUntil,
  requireKeyInUse,
  secretsMax,
  type KeySettings,
  type WebhookWithSecret,
} from './webhook/signing-secrets.ts'
export { UnusableKeyError, type SealedSecret, type SecretBox } from './webhook/secret-box.ts'
export type { ShownWebhook, WantedWebhook, WebhookRefusal } from './webhook/configure-webhooks.ts'
export {
  createEventPusher,
  pushDefaults,
  type EventPusher,
  type PushCounts,
  type PushOptions,
  type PushSettings,
} from './webhook/push-events.ts'
export {
  isHeldUp,
  type ErasedNumber,
  type HeldMessage,
  type HeldUp,
  type NumberData,
} from './personal-data/erase-number.ts'
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
  type HeldListRow,
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
  type PushVerdict,
} from './webhook/webhooks.ts'

// Time.
export { daysBefore, instant, secondsAfter, type Clock, type Instant } from './time/instant.ts'
export {
  formatDate,
  formatMinute,
  formatStamp,
  formatTime,
  gatewayDay,
  parseMinute,
  startOfGatewayDay,
  type GatewayDay,
} from './time/gateway-time.ts'
