import type { AccountId, AccountRate, KeyHash, KeyId } from '@gateway/core/accounts'
import type { AuditEntry } from '@gateway/core/audit'
import type { BulkSendId, Template, TemplateId } from '@gateway/core/bulk-sends'
import { credits, type Credits } from '@gateway/core/credits'
import type { CarrierId, DispatcherId, StoredUnreadReceipt } from '@gateway/core/dispatch'
import type {
  PausedCarrier,
  CarrierUser,
  CarrierVersion,
  CarrierWatch,
  PrefixCounts,
  ReportedCarrier,
  WatchedTraffic,
} from '@gateway/core/fleet'
import type { InboundMessage, WaitingPart } from '@gateway/core/inbox'
import type { AllowedSender, Incident, MessageId, Msisdn, SenderAddress } from '@gateway/core/messages'
import type { OperatorId, UserId, FactorOwner } from '@gateway/core/people'
import type { Erasure } from '@gateway/core/personal-data'
import type { PublishedRoute, QueueNumber, Route, RouteNumber } from '@gateway/core/routes'
import type { BindId, RepliesBy, SmppCredentialId, SmppDeliveryId, SmppProcessId } from '@gateway/core/smpp-customers'
import type { OptOut, Suppression, SuppressionScope } from '@gateway/core/suppressions'
import type { Clock, Instant } from '@gateway/core/time'
import type { ReplayId, WebhookEvent, WebhookId } from '@gateway/core/webhooks'
import { realClock } from './clock.ts'
import { dueQueues, type DueQueues } from './due-queues.ts'
import { rotation, type Rotation } from './rotation.ts'
import type {
  AccountRow,
  BulkSendRow,
  ClientRequestRow,
  InboundMessageRow,
  DispatcherRow,
  KeyRow,
  LastContact,
  MessageRow,
  PromotionRow,
  Range,
  ReplayRow,
  OperatorRow,
  OperatorSessionRow,
  SecondFactorRow,
  SessionRow,
  SmppBindRow,
  SmppCredentialRow,
  SmppDeliveryRow,
  SmppPartRow,
  UserRow,
  WebhookRow,
} from './rows.ts'
import type { StoredDeliveryReceipt } from '../contracts/specification/adoptions.ts'

type Series =
  | 'account'
  | 'key'
  | 'session'
  | 'user'
  | 'operator'
  | 'operator-session'
  | 'message'
  | 'dispatcher'
  | 'batch'
  | 'inbound-message'
  | 'taking'
  | 'webhook'
  | 'secret'
  | 'event-list'
  | 'test-event'
  | 'queue'
  | 'replay'
  | 'erasure'
  | 'unread-receipt'
  | 'bulk-send'
  | 'template'
  | 'promotion'
  | 'smpp-credential'
  | 'smpp-delivery'

/** Data that the adapters of one memory store share, as the PostgreSQL adapters share a database. */
export interface MemoryStore {
  readonly clock: Clock
  /** Returns the next number of a series that starts at 1. */
  next(series: Series): number
  /** Skips this many numbers of a series. */
  skip(series: 'message', count: number): void
  readonly accounts: Map<AccountId, AccountRow>
  /** Accounts by user name in lower case. */
  readonly logins: Map<string, AccountRow>
  readonly keys: Map<KeyId, KeyRow>
  /** Operations for which a key was issued. */
  readonly keyOperations: Set<string>
  readonly keysByHash: Map<KeyHash, KeyRow>
  readonly secondFactors: Map<FactorOwner, SecondFactorRow>
  readonly secondFactorRequired: Set<AccountId>
  /** Sessions by the hash of the token. */
  readonly sessions: Map<KeyHash, SessionRow>
  readonly users: Map<UserId, UserRow>
  /** Operations (UUIDs) of the top-ups that were made. */
  readonly topUps: Set<string>
  readonly operators: Map<OperatorId, OperatorRow>
  readonly bulkSends: Map<BulkSendId, BulkSendRow>
  readonly templates: Map<TemplateId, { readonly account: AccountId; readonly template: Template }>
  readonly operatorSessions: Map<KeyHash, OperatorSessionRow>
  readonly links: Map<KeyHash, { readonly account: AccountId; readonly until: Instant }>
  readonly prices: Map<string, Credits>
  readonly accountPrices: Map<AccountId, Map<string, Credits>>
  /** Published routes, and the numbers of all routes that ever existed. */
  readonly routes: {
    published: readonly PublishedRoute[]
    readonly numbers: Map<string, RouteNumber>
    /** Routes by number, as last published. Includes routes that are not published any more. */
    readonly known: Map<RouteNumber, Route>
    /** Numbers of queues by route and carrier. */
    readonly queues: Map<string, QueueNumber>
  }
  readonly suppressions: Map<SuppressionScope, Map<Msisdn, Map<Suppression, Instant>>>
  /** Replies that caused opt-outs, by account. */
  readonly optOutReplies: Map<AccountId, Map<Msisdn, NonNullable<OptOut['reply']>>>
  /** Rates last reported, by process. */
  readonly accountRates: Map<string, { readonly at: Instant; readonly rates: readonly AccountRate[] }>
  /** Time until which each account and limit has paid off its use (`useRate`), by account and limit. */
  readonly usedRates: Map<string, Instant>
  readonly loginFailures: { readonly key: string; readonly until: Instant }[]
  /** Addresses that messages were sent from or that belong to an account. */
  readonly addresses: Set<SenderAddress>
  readonly codes: Map<SenderAddress, AccountId>
  readonly allowedSenders: AllowedSender[]
  readonly chosenSenders: Map<Msisdn, Map<AccountId, SenderAddress>>
  readonly messages: Map<MessageId, MessageRow>
  /** Last message to each number, of those already dropped from `messages`, by sender address. */
  readonly lastContacts: Map<Msisdn, Map<SenderAddress, LastContact>>
  /** Requests by account and key. */
  readonly clientRequests: Map<string, ClientRequestRow>
  /** Inbound messages in the order in which they were received. */
  readonly inboundMessages: InboundMessageRow[]
  /** Number of read messages, by account and person. */
  readonly conversations: Map<AccountId, Map<string, { arrived: number; read: number }>>
  /** Time at which each key was first seen. */
  readonly deduplicationKeys: Map<string, Instant>
  /** Time at which the text of each part was joined. */
  readonly joinedParts: Map<string, Instant>
  /** Parts that wait for the other parts of their text. */
  readonly parts: Map<
    string,
    { readonly message: InboundMessage; readonly parts: readonly WaitingPart[]; readonly last: Instant }
  >
  /** Ranges that are scheduled or wait for a retry. */
  readonly later: Rotation
  readonly due: DueQueues
  readonly dispatchers: Map<DispatcherId, DispatcherRow>
  /** Carriers of dispatchers that have claimed, alive or dead. */
  readonly carriersOfDispatchers: Map<DispatcherId, CarrierId>
  /** Promotions in the order in which they were noticed. */
  readonly promotions: PromotionRow[]
  /** Functions that wake sleepers. */
  readonly sleepers: Set<() => void>
  /** Newest message with each reference, by carrier and reference. */
  readonly references: Map<string, MessageRow>
  readonly learnedForms: Map<CarrierId, string>
  readonly incidents: Map<MessageId, Incident[]>
  /** Receipts without a message, by reference, in order of arrival. */
  readonly receipts: Map<string, StoredDeliveryReceipt[]>
  /** Receipts in order of arrival. */
  unreadReceipts: readonly StoredUnreadReceipt[]
  /** Messages that carriers reported as unknown, in order of arrival. */
  readonly unknownReferences: Map<
    string,
    { readonly carrier: CarrierId; readonly reference: string; readonly at: Instant; isQueried: boolean }
  >
  readonly webhooks: Map<WebhookId, WebhookRow>
  /** Replays by id, oldest first. */
  readonly replays: Map<ReplayId, ReplayRow>
  /** Events that a replay queued again, with the replay. */
  readonly copies: WeakMap<WebhookEvent, ReplayId>
  carrierReports: readonly Omit<ReportedCarrier, 'isStale'>[]
  /** Stored versions of the carriers, in order of their numbers. */
  readonly carrierVersions: CarrierVersion[]
  /** Processes that use a carrier, with the end of their leases. */
  readonly carrierUsers: Map<string, CarrierUser & { readonly until: number }>
  /** Counts since the store was created. */
  readonly carrierFigures: Map<CarrierId, Map<string, PrefixCounts>>
  readonly carrierWatches: Map<
    string,
    { readonly watch: CarrierWatch; readonly until: number; readonly reports: WatchedTraffic[] }
  >
  readonly heldCarriers: Map<CarrierId, PausedCarrier>
  /** Listeners for new versions and modes. */
  readonly carrierListeners: Set<() => void>
  /** Erasures in the order in which they were started. */
  readonly erasures: Erasure[]
  readonly auditEntries: AuditEntry[]
  readonly smppCredentials: Map<SmppCredentialId, SmppCredentialRow>
  /** Choices of the accounts that have a credential. */
  readonly repliesBy: Map<AccountId, RepliesBy>
  readonly smppBinds: Map<BindId, SmppBindRow>
  /** Time of the last report of each process. */
  readonly smppProcesses: Map<SmppProcessId, Instant>
  readonly smppParts: Map<MessageId, SmppPartRow>
  /** Deliveries in the order in which they were stored. */
  readonly smppDeliveries: Map<SmppDeliveryId, SmppDeliveryRow>
}

/** Creates an empty store; its only price is 1.0 for all numbers (ruling 1.4). */
export function memoryStore(clock: Clock = realClock()): MemoryStore {
  const series = new Map<Series, number>()
  const skip = (name: Series, count: number): number => {
    const last = (series.get(name) ?? 0) + count
    series.set(name, last)
    return last
  }
  const byId = (a: Range, b: Range) => firstId(a) - firstId(b)
  const rankOf = ({ attempt, send }: Range) => (attempt > 0 ? 1 : -(send.options.priority ?? 0))
  return {
    clock,
    next: (name) => skip(name, 1),
    skip,
    accounts: new Map(),
    logins: new Map(),
    keys: new Map(),
    keyOperations: new Set(),
    keysByHash: new Map(),
    secondFactors: new Map(),
    secondFactorRequired: new Set(),
    sessions: new Map(),
    users: new Map(),
    topUps: new Set(),
    operators: new Map(),
    bulkSends: new Map(),
    templates: new Map(),
    operatorSessions: new Map(),
    links: new Map(),
    accountPrices: new Map(),
    prices: new Map([['', credits(10)]]),
    carrierReports: [],
    carrierVersions: [],
    carrierUsers: new Map(),
    carrierFigures: new Map(),
    carrierWatches: new Map(),
    heldCarriers: new Map(),
    carrierListeners: new Set(),
    routes: { published: [], numbers: new Map(), known: new Map(), queues: new Map() },
    suppressions: new Map(),
    optOutReplies: new Map(),
    accountRates: new Map(),
    usedRates: new Map(),
    loginFailures: [],
    addresses: new Set(),
    codes: new Map(),
    allowedSenders: [],
    chosenSenders: new Map(),
    messages: new Map(),
    lastContacts: new Map(),
    clientRequests: new Map(),
    inboundMessages: [],
    conversations: new Map(),
    deduplicationKeys: new Map(),
    joinedParts: new Map(),
    parts: new Map(),
    later: rotation((a, b) => a.at - b.at || byId(a, b)),
    due: dueQueues((a, b) => rankOf(a) - rankOf(b) || byId(a, b)),
    dispatchers: new Map(),
    carriersOfDispatchers: new Map(),
    promotions: [],
    sleepers: new Set(),
    references: new Map(),
    learnedForms: new Map(),
    incidents: new Map(),
    receipts: new Map(),
    unreadReceipts: [],
    unknownReferences: new Map(),
    webhooks: new Map(),
    replays: new Map(),
    copies: new WeakMap(),
    erasures: [],
    auditEntries: [],
    smppCredentials: new Map(),
    repliesBy: new Map(),
    smppBinds: new Map(),
    smppProcesses: new Map(),
    smppParts: new Map(),
    smppDeliveries: new Map(),
  }
}

export const referenceKey = (carrier: CarrierId, reference: string): string => `${carrier} ${reference}`

const firstId = (range: Range): number => range.messages[0]?.id ?? range.send.first
