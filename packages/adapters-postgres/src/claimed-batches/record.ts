import {
  codeOfHandover,
  referencesOf,
  type CarrierReferences,
  type ClaimedBatchId,
  type ClaimedBatches,
  type DispatcherId,
  type Mark,
  type Recorded,
} from '@gateway/core/dispatch'
import { OUTCOME, type MessageId, type SenderAddress } from '@gateway/core/messages'
import { receiptFor } from '@gateway/core/smpp-customers'
import { retryWorkOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { sqlState } from '../errors.ts'
import { storedReference } from '../delivery-receipts/one-per-message.ts'
import { numberOf, type NumbersOfSenders } from '../senders/sender-numbers.ts'
import { endPromotions, lockPromotions, proveSubmitted } from '../sql/promotions.ts'
import {
  record as recordAccepted,
  recordLate,
  recordNotifying,
  recordParts,
  recordPartsNotifying,
  recordPriced,
} from '../sql/record.ts'
import type { ValuesOf } from '../sql/statement.ts'
import type { KnownBatches } from './known-batches.ts'

/** Facts by which the statement for accepted messages is chosen. */
interface PlainRecord {
  readonly count: number
  readonly isNotifying: boolean
  /** Undefined if no message has a price. */
  readonly prices: ReturnType<typeof pricesOf> | undefined
}

/** SQLSTATE of the error if a recovery, or an earlier run of the same statement, has stored some of the messages. */
const rowExists = '23505'

export function createRecord(
  { pools: { hot, ordinary }, senders }: Context,
  batches: KnownBatches,
): ClaimedBatches['record'] {
  /**
   * Runs the fast statement. Returns undefined if some messages are stored already or their batch no longer exists;
   * then `recordLate` must run.
   */
  async function recordAll(
    values: ValuesOf<typeof recordAccepted>,
    parts: ReturnType<typeof partsOf> | undefined,
    { count, isNotifying, prices }: PlainRecord,
  ) {
    try {
      const [row] = await (parts === undefined
        ? hot.run(isNotifying ? recordNotifying : recordAccepted, values)
        : prices === undefined
          ? hot.run(isNotifying ? recordPartsNotifying : recordParts, { ...values, ...parts })
          : hot.run(recordPriced, { ...values, ...parts, ...prices }))
      return row?.recorded === count ? row : undefined
    } catch (error) {
      if (sqlState(error) === rowExists) return undefined
      throw error
    }
  }

  /**
   * Records that messages were submitted although a promotion has put them in doubt or ended them in doubt. The
   * dispatcher has their outcomes, which prove that they were submitted.
   */
  async function prove(dispatcher: DispatcherId, ids: readonly MessageId[]): Promise<boolean> {
    const carrier = batches.carrierOf(dispatcher)
    if (carrier === undefined) return false
    return ordinary.transaction(async (connection) => {
      await connection.run(lockPromotions, {})
      const [row] = await connection.run(proveSubmitted, { ids, carrier })
      await connection.run(endPromotions, {})
      return (row?.messages ?? 0) > 0
    })
  }

  return async (dispatcher, outcomes, marks = []) => {
    const recorded = ascending(outcomes)
    const known = await senders.numbersOf(sendersOf(recorded))
    /** Messages that their batches still contain, as far as this process knows. */
    const present = new Map<ClaimedBatchId, MessageId[]>()
    const carriers = recorded.map(({ batch, message: { id } }) => {
      const knownBatch = batches.get(dispatcher, batch)
      if (knownBatch?.ids.has(id) !== true) return undefined
      const ids = present.get(batch)
      if (ids === undefined) present.set(batch, [id])
      else ids.push(id)
      return knownBatch.carrier
    })
    const finished = [...present].filter(([batch, ids]) => batches.get(dispatcher, batch)?.ids.size === ids.length)
    const ended = finished.map(([batch]) => batch)
    const { values, firsts } = valuesOf(recorded, marks, known)
    const all = { dispatcher, ended, ...values }
    const isPlain = !carriers.includes(undefined) && recorded.every(({ handover }) => handover.outcome === 'accepted')
    const isInParts = recorded.some(
      ({ handover }) => 'reference' in handover && handover.furtherReferences !== undefined,
    )
    const isPriced = recorded.some(({ handover }) => 'reference' in handover && handover.price !== undefined)
    const parts = isInParts || isPriced ? partsOf(recorded) : undefined
    const prices = isPriced ? pricesOf(recorded) : undefined
    const late = () => ({
      ...all,
      ...(parts ?? partsOf(recorded)),
      ...(prices ?? pricesOf(recorded)),
      codes: recorded.map(({ handover }) => codeOfHandover(handover)),
    })
    const row = await retryWorkOnConnectionLoss(hot, async () => {
      const plain = isPlain
        ? await recordAll({ ...all, carriers: firsts.flatMap((first) => carriers[first] ?? []) }, parts, {
            count: recorded.length,
            prices,
            isNotifying: recorded.some(({ message }) => requestsNotification(message)),
          })
        : undefined
      if (plain !== undefined) return plain
      const [result] = await hot.run(recordLate, late())
      if (result === undefined || result.told === recorded.length) return result
      // A promotion may have put messages in doubt. `prove` records that they were submitted, so that their outcomes
      // can be recorded.
      if (await prove(dispatcher, values.ids)) await hot.run(recordLate, late())
      return result
    })
    for (const [batch, ids] of present) await batches.leave(dispatcher, batch, ids, ended.includes(batch))
    return row?.marked === marks.length ? 'recorded' : 'fenced'
  }
}

/** Sorts by id and removes repeated ids, so that a statement updates no row twice and locks in one order. */
function ascending(outcomes: readonly Recorded[]): readonly Recorded[] {
  const isAscending = outcomes.every(({ message }, i) => i === 0 || (outcomes[i - 1]?.message.id ?? 0) < message.id)
  if (isAscending) return outcomes
  const sorted = [...outcomes].sort((a, b) => a.message.id - b.message.id)
  return sorted.filter(({ message }, i) => message.id !== sorted[i - 1]?.message.id)
}

const sendersOf = (recorded: readonly Recorded[]): ReadonlySet<SenderAddress> =>
  new Set(recorded.flatMap(({ message: { from } }) => from ?? []))

/**
 * Returns the parameters of the statement, except the batches that end. Neighbouring messages that share fields form a
 * run, and `firsts` has the index of the first message of each run.
 */
function valuesOf(recorded: readonly Recorded[], marks: readonly Mark[], known: NumbersOfSenders) {
  const firsts: number[] = []
  const positions = recorded.map(({ batch, message }, i) => {
    const last = recorded[firsts.at(-1) ?? recorded.length]
    const isAlike = last !== undefined && batch === last.batch && message.send === last.message.send
    return isAlike ? firsts.length : firsts.push(i)
  })
  const common = firsts.flatMap((first) => recorded[first] ?? [])
  const values = {
    positions,
    ids: recorded.map(({ message }) => message.id),
    numbers: recorded.map(({ message }) => message.to),
    references: recorded.map(referenceOf),
    batches: common.map(({ batch }) => batch),
    accounts: common.map(({ message }) => message.account),
    sends: common.map(({ message }) => message.send),
    senders: common.map(({ message: { from } }) => (from === undefined ? 0 : numberOf(known, from))),
    confirming: common.map(({ message }) => message.confirmation),
    markedBatches: marks.map(({ batch }) => batch),
    upTo: marks.map(({ upTo }) => upTo),
  }
  return { values, firsts }
}

const referenceOf = ({ handover }: Recorded): string | undefined =>
  'reference' in handover ? storedReference(handover.reference) : undefined

function pricesOf(recorded: readonly Recorded[]) {
  const prices = recorded.map(({ handover }) => ('reference' in handover ? handover.price : undefined))
  return { prices: prices.map((price) => price?.amount), currencies: prices.map((price) => price?.currency) }
}

function partsOf(recorded: readonly Recorded[]) {
  const references = recorded.map(({ handover }) =>
    'reference' in handover && handover.furtherReferences !== undefined ? storedReferences(handover) : [],
  )
  const parts = references.flatMap((ofMessage, i) =>
    ofMessage.map((reference, k) => ({ message: i + 1, part: k + 1, reference })),
  )
  return {
    partCounts: references.map((ofMessage) => ofMessage.length),
    partMessages: parts.map(({ message }) => message),
    partPlaces: parts.map(({ part }) => part),
    partReferences: parts.map(({ reference }) => reference),
  }
}

/**
 * Returns the distinct references of the parts, in the form in which they are stored. Returns none if only one is left,
 * which can happen because long references are truncated.
 */
function storedReferences(handover: CarrierReferences): readonly string[] {
  const references = [...new Set(referencesOf(handover).map(storedReference))]
  return references.length > 1 ? references : []
}

/** Returns true if the message or a part of it requests a notification of its acceptance by the carrier. */
function requestsNotification({ options: { smpp } }: Recorded['message']): boolean {
  const requests = ({ receipts = 0 }: { readonly receipts?: number | undefined }) =>
    receiptFor(receipts, OUTCOME.sent) !== undefined
  return smpp !== undefined && (smpp.parts ?? [smpp]).some(requests)
}
