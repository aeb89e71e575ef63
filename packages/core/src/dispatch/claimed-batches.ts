import { type AccountId, may } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Body } from '../messages/body.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import { OUTCOME, type OutcomeCode } from '../messages/status-code.ts'
import { type ClaimedOptions, isExpired } from '../messages/send-options.ts'
import type { Suppression } from '../suppressions/suppressions.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'
import type { CarrierReferences } from './delivery-receipt.ts'
import type { Sleeper } from './sleeper.ts'
import type { QueueNumber, RouteNumber } from '../routes/published-routes.ts'
import type { Credits } from '../credits/credits.ts'

/** Id of a dispatcher's epoch. A dispatcher that was declared dead never acts under its old id again. */
export type DispatcherId = Brand<number, 'DispatcherId'>

/** Id of a claimed batch, unique within its dispatcher. */
export type ClaimedBatchId = Brand<number, 'ClaimedBatchId'>

/** Lane of a message: 'single' for texts to up to ten numbers, 'bulk' for larger ones (`laneOf`). */
export type Lane = 'single' | 'bulk'

export interface ClaimedMessage {
  readonly id: MessageId
  /** Id of the first message of the send to which this message belongs. A send is one text to many numbers. */
  readonly send: MessageId
  readonly account: AccountId
  /**
   * Sender address. Undefined if the message was accepted before messages had sender addresses, or if its sender is not
   * registered with the carrier that claimed it, whose own address is used instead (`senderOver`).
   */
  readonly from: SenderAddress | undefined
  /**
   * Carriers that may submit the message, if its sender is not registered with the claiming carrier and its account
   * does not allow another sender. Undefined if the claiming carrier may submit it.
   */
  readonly onlyOver: readonly CarrierId[] | undefined
  readonly to: Msisdn
  readonly body: Body
  /** When the message was first due; the validity starts here. */
  readonly due: Instant
  /** End of the message's own validity (ruling 1.29); undefined if it has none. */
  readonly expires: Instant | undefined
  readonly options: ClaimedOptions
  /** True if the message confirms an opt-out, which therefore does not stop it (ruling 1.21). */
  readonly confirmation: boolean
  /** Number of times that a carrier has temporarily refused the message. */
  readonly attempt: number
  /** Facts at the time of the claim, for screening once more (ruling 1.13). */
  readonly accountLocked: boolean
  readonly suppressions: ReadonlySet<Suppression>
}

/**
 * A claimed batch of messages. Only its dispatcher may submit, settle or give back its messages, and only while the
 * batch exists.
 */
export interface ClaimedBatch {
  readonly id: ClaimedBatchId
  /** Time of the claim, by the store's clock. */
  readonly at: Instant
  /** Messages in order of submission. */
  readonly messages: readonly ClaimedMessage[]
  /** Number of messages, from the front, that are marked and may be submitted. */
  readonly marked: number
}

export interface Wanted {
  readonly carrier: CarrierId
  readonly lane: Lane
  /** Queue to claim from; undefined: the queue of messages without a route. */
  readonly queue?: QueueNumber
  /** Maximum number of messages, at least 1. The single lane may exceed it by the rest of one send. */
  readonly messagesMax: number
  /** Maximum number of messages marked by the claim. */
  readonly markedMax: number
  readonly leaseSeconds: number
  /** If true, claims only messages that no carrier has temporarily refused. Used for probes. */
  readonly fresh?: boolean
  /**
   * If set, claims only messages that have been due for this many seconds by the store's clock, because carriers of a
   * better priority have no room. Each claimed message gets the incident `INCIDENT.overflow`.
   */
  readonly overflowSeconds?: number | undefined
}

/**
 * Outcome of a message that was submitted. Partly: the carrier has some of the parts and will never get the others.
 */
export type Handover =
  ({ readonly outcome: 'accepted' | 'partly' } & CarrierReferences) | Refused | { readonly outcome: 'unknown' }

/** A carrier refused a message for good. */
export interface Refused {
  readonly outcome: 'refused'
  /** True if the recipient has opted out of our messages at the carrier (ruling 6.2). */
  readonly optOut?: true
}

export interface Recorded {
  readonly batch: ClaimedBatchId
  readonly message: ClaimedMessage
  readonly handover: Handover
}

/** Selection of messages of unknown outcome that may be submitted again. */
export interface Repeatable {
  /**
   * Maximum seconds since the message was first due, which bounds the time since its first submission by the store's
   * clock.
   */
  readonly withinSeconds: number
  /**
   * Minimum seconds since the outcome became unknown, and since the last repetition. The time between two repetitions
   * doubles.
   */
  readonly afterSeconds: number
  readonly countMax: number
}

/** Dispatcher and batch of outcomes that belong to no claimed batch. Such outcomes only resolve unknown messages. */
export const noDispatcher = 0 as DispatcherId
export const noBatch = 0 as ClaimedBatchId

/** A mark: the first `upTo` messages of the batch may be submitted. */
export interface Mark {
  readonly batch: ClaimedBatchId
  readonly upTo: number
}

/** Codes of messages that end without being submitted. */
export type SettledCode = (typeof OUTCOME)['expired' | 'accountLocked' | 'optedOut' | 'blacklisted' | 'refused']

export interface Settled {
  readonly id: MessageId
  readonly code: SettledCode
}

/** Host and process id of a process. */
export interface ProcessPlace {
  readonly host: string
  readonly pid: number
}

/**
 * Store of waiting and claimed messages (P-4 to P-6). Every call is atomic, and an implementation may repeat it after a
 * lost answer without any double effect. At every committed moment a message is in exactly one place: scheduled or
 * postponed, due, in a claimed batch, or decided. A claimed batch ends with its last message, whichever call removes
 * it.
 */
export interface ClaimedBatches {
  /** Registers a new epoch with a lease. The version and place of the process are shown to operators if defined. */
  register(leaseSeconds: number, version?: string, place?: ProcessPlace): Promise<DispatcherId>
  /** Extends the lease. Fenced: the dispatcher was declared dead and no longer owns its claimed batches. */
  extend(dispatcher: DispatcherId, leaseSeconds: number): Promise<'alive' | 'fenced'>
  /**
   * Ends a dispatcher in good order: unmarked messages go back to the queue, marked messages without a recorded outcome
   * become unknown.
   */
  retire(dispatcher: DispatcherId): Promise<void>
  /**
   * Moves messages that have become due from the schedule to the queue, an equal share of each account; returns the
   * number of ranges moved.
   */
  promote(rangesMax: number): Promise<number>
  /**
   * Claims due messages of one queue and extends the lease. The accounts that wait in the lane take turns, so a single
   * message waits for one round of the accounts, not for the backlog of another account. Within an account, messages of
   * higher priority come first and messages temporarily refused come last.
   */
  claim(dispatcher: DispatcherId, request: Wanted): Promise<ClaimedBatch | 'nothing' | 'fenced'>
  /**
   * Gives back batches of failed claims: every claimed batch of the dispatcher except the `known` ones returns to the
   * queue, marked or not, as if it had never been claimed, and a failed claim that is still running claims nothing. No
   * claim of the dispatcher may be in progress.
   */
  disown(dispatcher: DispatcherId, known: readonly ClaimedBatchId[]): Promise<void>
  /**
   * Marks the first `upTo` messages of the batch; they may be submitted once this has resolved to 'marked'. Never
   * lowers a mark.
   */
  mark(dispatcher: DispatcherId, batch: ClaimedBatchId, upTo: number): Promise<'marked' | 'fenced'>
  /**
   * Stores the outcomes of submitted messages, which may belong to several claimed batches. `codeOfHandover` gives the
   * code of each message; messages with code 111 or 212 are refunded. A refusal with `optOut` also adds an opt-out of
   * the account, whose reply has the text `carrierOptOutText` and answers the message, without a confirmation (ruling
   * 6.2). An existing opt-out does not change. If the dispatcher was fenced meanwhile, only corrects,
   * once, messages that recovery set to unknown (`isLateTruth`); nothing else changes.
   *
   * The marks are set once the outcomes are stored, never before. Fenced: a claimed batch to be marked no longer
   * belongs to the dispatcher.
   */
  record(
    dispatcher: DispatcherId,
    outcomes: readonly Recorded[],
    marks?: readonly Mark[],
  ): Promise<'recorded' | 'fenced'>
  /**
   * Returns messages of unknown outcome without a reference that may be submitted to this carrier again, by due time,
   * and records a repetition for each, so that concurrent callers get different messages. Record the answers as late
   * outcomes (`record` with `noDispatcher`).
   */
  takeRepeatable(carrier: CarrierId, selection: Repeatable): Promise<readonly ClaimedMessage[]>
  /**
   * Ends messages of the batch that were never submitted, marked or not, and refunds them; ignores ids that are no
   * longer in the batch.
   */
  settle(dispatcher: DispatcherId, batch: ClaimedBatchId, settled: readonly Settled[]): Promise<'settled' | 'fenced'>
  /**
   * Gives back messages that the carrier explicitly refused temporarily. They can be claimed again after `seconds` from
   * `queue`, or from their previous queue if `queue` is undefined. Fenced: the messages were certainly not given back,
   * now or before. Those that recovery set to unknown may then be recorded as refused.
   */
  postpone(
    dispatcher: DispatcherId,
    batch: ClaimedBatchId,
    ids: readonly MessageId[],
    seconds: number,
    queue?: QueueNumber,
  ): Promise<'postponed' | 'fenced'>
  /**
   * Gives back messages of the batch that were never submitted, to be claimed again at once; ignores ids that are no
   * longer in the batch. Fenced: they have been given back, or are unknown if they were marked.
   */
  giveBack(dispatcher: DispatcherId, batch: ClaimedBatchId, ids: readonly MessageId[]): Promise<'given-back' | 'fenced'>
  /** Returns those of the queues in which messages of the lane are due, in the order of `queues`. */
  queuesWithWork(lane: Lane, queues: readonly QueueNumber[]): Promise<readonly QueueNumber[]>
  /**
   * Ends dispatchers whose lease is over: marked messages without a recorded outcome become unknown (106), all others
   * go back to the queue.
   */
  recover(): Promise<{ readonly requeued: number; readonly unknown: number }>
  /**
   * Ends waiting messages as expired (101) and refunds them: those whose own validity is over, and those without one
   * that were due more than `validitySeconds` ago. Returns how many.
   */
  expire(validitySeconds: number, rangesMax: number): Promise<number>
  /**
   * Registers a process that may sleep, so that an idle process polls seldom and still learns of due work at once.
   * `wake` is called, possibly for nothing, once due work has been committed, and whenever a notification may have been
   * missed. Only sleeping processes are notified, so that notifications cost nothing under load.
   */
  sleeper(wake: () => void): Sleeper
}

/** Maximum number of recipients of a text in the single lane, where it never waits behind larger ones (P-13). */
const singleLaneMax = 10

/**
 * Returns the lane of a text that was accepted for this many numbers. The lane applies to all its messages and never
 * changes.
 */
export const laneOf = (messages: number): Lane => (messages <= singleLaneMax ? 'single' : 'bulk')

interface Neighbour {
  readonly cost: Credits
  /** Sender address, or the key under which the store knows it. */
  readonly from: string | number
  readonly route: RouteNumber
}

/**
 * Returns true if neighbouring messages of one text belong to one send, which is charged, refunded and traced as a
 * whole.
 */
export const isSameSend = (a: Neighbour, b: Neighbour): boolean =>
  a.cost === b.cost && a.from === b.from && a.route === b.route

/** Status codes for the answers of a carrier (ruling 1.16). */
const handoverCodes = {
  accepted: OUTCOME.sent,
  partly: OUTCOME.failed,
  refused: OUTCOME.refused,
  unknown: OUTCOME.unknown,
} as const satisfies Record<Handover['outcome'], OutcomeCode>

/** Returns the status code for the answer of a carrier (rulings 1.16, 6.2). */
export const codeOfHandover = (
  handover: Handover,
): (typeof handoverCodes)[Handover['outcome']] | typeof OUTCOME.optedOut =>
  'optOut' in handover ? OUTCOME.optedOut : handoverCodes[handover.outcome]

/**
 * Returns the code with which a claimed message ends without being submitted (ruling 1.13); undefined if it may be
 * submitted.
 */
export function screenAgain(message: ClaimedMessage, now: Instant, validitySeconds: number): SettledCode | undefined {
  if (isExpired(message, now, validitySeconds)) return OUTCOME.expired
  if (!may({ locked: message.accountLocked }, 'send')) return OUTCOME.accountLocked
  if (message.suppressions.has('blacklist')) return OUTCOME.blacklisted
  return message.suppressions.has('opt-out') && !message.confirmation ? OUTCOME.optedOut : undefined
}
