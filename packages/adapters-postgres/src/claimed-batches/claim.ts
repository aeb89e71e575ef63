import type { DispatcherId, ClaimedBatch, ClaimedBatchId, Lane, Wanted } from '@gateway/core/dispatch'
import { senderOver } from '@gateway/core/messages'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { claimBulk, type ClaimRow, claimSingle } from '../sql/claim.ts'
import { disown } from '../sql/batches.ts'
import { freshRank, retriedRank } from '../sql/rank.ts'
import { claimedMessages, sendersOf } from './claimed-messages.ts'
import type { KnownBatches } from './known-batches.ts'

export interface Claims {
  readonly claim: (dispatcher: DispatcherId, request: Wanted) => Promise<ClaimedBatch | 'nothing' | 'fenced'>
  /** Disowns batches of failed claims that could not be disowned earlier, because the database was unreachable. */
  readonly giveBackFailedClaims: (dispatcher: DispatcherId) => Promise<void>
}

/** Maximum number of accounts in one claim of the single lane. Each costs 5 µs, whether or not it has messages. */
const accountsMax = 64
/**
 * Maximum number of ranges of an account that one claim of the bulk lane reads. It is low because each range that is
 * read is also locked. After a claim that used all of its ranges, the next claim may read more.
 */
const rangesMax = 16
const attemptsMax = 3
const batchesMax = 2 ** 31 - 1
const noQueue = 0

export function createClaims(context: Context, batches: KnownBatches): Claims {
  const { hot } = context.pools
  const cursors: Record<Lane, number> = { single: 0, bulk: 0 }
  /** Failed claims that are not disowned yet, and may have claimed messages. */
  const debts = new Map<DispatcherId, Set<number>>()
  let batchesClaimed = 0
  let bulkRangesMax = rangesMax

  async function giveBack(dispatcher: DispatcherId, seq: number): Promise<void> {
    const owed = debts.get(dispatcher) ?? new Set()
    debts.set(dispatcher, owed.add(seq))
    await retryOnConnectionLoss(hot, disown, { dispatcher, batch: seq })
    owed.delete(seq)
    if (owed.size === 0) debts.delete(dispatcher)
  }

  async function giveBackFailedClaims(dispatcher: DispatcherId): Promise<void> {
    for (const seq of debts.get(dispatcher) ?? []) await giveBack(dispatcher, seq)
  }

  /**
   * Claims a batch. After an error it disowns the batch and throws, or returns undefined if the connection broke before
   * the answer.
   */
  async function attempt(dispatcher: DispatcherId, request: Wanted, carrier: number) {
    const seq = (batchesClaimed = (batchesClaimed % batchesMax) + 1)
    try {
      const rows = await run(dispatcher, seq, request, carrier)
      return await toBatch(dispatcher, seq as ClaimedBatchId, request, carrier, rows)
    } catch (error) {
      await giveBack(dispatcher, seq)
      if (isLostAnswer(error)) return undefined
      throw error
    }
  }

  function run(dispatcher: DispatcherId, seq: number, request: Wanted, carrier: number): Promise<ClaimRow[]> {
    const { lane, messagesMax, markedMax, leaseSeconds, queue = noQueue, fresh = false, overflowSeconds } = request
    const common = {
      dispatcher,
      batch: seq,
      cursor: cursors[lane],
      messagesMax,
      markedMax,
      leaseSeconds,
      carrier,
      queue,
      rankMax: fresh ? freshRank : retriedRank,
      overflowSeconds: overflowSeconds ?? null,
    }
    return lane === 'single'
      ? hot.run(claimSingle, {
          ...common,
          accountsMax: overflowSeconds === undefined ? Math.min(accountsMax, messagesMax) : accountsMax,
        })
      : hot.run(claimBulk, { ...common, rangesMax: bulkRangesMax })
  }

  async function toBatch(
    dispatcher: DispatcherId,
    id: ClaimedBatchId,
    { carrier: name, lane, messagesMax, markedMax }: Wanted,
    carrier: number,
    rows: readonly ClaimRow[],
  ): Promise<ClaimedBatch | 'nothing' | 'fenced'> {
    const ranges = rows.filter((row) => row.lo !== null)
    if (lane === 'bulk') bulkRangesMax = ranges.length < bulkRangesMax ? rangesMax : Math.max(rangesMax, messagesMax)
    const [first] = rows
    cursors[lane] = first?.cursor ?? 0
    if (first?.alive !== true) {
      batches.dropAll(dispatcher)
      return 'fenced'
    }
    if (ranges.length === 0) return 'nothing'
    const allowed = await context.allowedSenders()
    const addresses = await context.senders.addressesOf(sendersOf(ranges))
    const messages = claimedMessages(ranges, addresses, (account, from) =>
      senderOver(name, allowed.get(account) ?? [], from),
    )
    batches.add(dispatcher, id, { carrier, ids: new Set(messages.map((message) => message.id)) })
    return { id, at: first.at, messages, marked: Math.min(markedMax, messages.length) }
  }

  async function claim(dispatcher: DispatcherId, request: Wanted): Promise<ClaimedBatch | 'nothing' | 'fenced'> {
    await giveBackFailedClaims(dispatcher)
    const carrier = await context.carrierNumber(request.carrier)
    for (let attempts = 0; attempts < attemptsMax; attempts++) {
      const batch = await attempt(dispatcher, request, carrier)
      if (batch !== undefined) return batch
    }
    return 'nothing'
  }

  return { claim, giveBackFailedClaims }
}
