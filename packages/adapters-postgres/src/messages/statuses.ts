import type { AccountId } from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import {
  labelsOf,
  noOptions,
  statusOf,
  type MessageId,
  type MessageReference,
  type MessageStatus,
  type Msisdn,
  type Outcome,
  type SendLabels,
} from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { Connections } from '../connections.ts'
import { arrayOf, detachRow, elementAt, fromArray, fromJsonById, fromTimes, numbersFromArray } from '../sql/arrays.ts'
import { coveringSends, findOutcomes, numbersInSends, referencesInSends } from '../sql/status.ts'
import { knownCode } from '../stored-codes.ts'

interface FoundOutcome extends Outcome {
  readonly number: Msisdn
  readonly send: number
}

interface Send {
  readonly first: number
  readonly due: Instant
  readonly price: Credits
  readonly hasReferences: boolean
  readonly labels: SendLabels | undefined
}

/**
 * Reads statuses with two statements: the outcomes of decided messages, then the sends of all messages. A message
 * decided in between counts as waiting. Runs a third statement for the numbers of waiting messages, and one for client
 * references if a send has any.
 */
export async function statuses(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
  since: Instant,
): Promise<readonly MessageStatus[]> {
  if (ids.length === 0) return []
  const outcomes = await outcomesOf(hot, by, ids)
  const sends = await sendsCovering(hot, by, [...new Set(ids.map((id) => outcomes.get(id)?.send ?? id))])
  const numbers = await numbersOf(
    hot,
    by,
    ids.filter((id) => !outcomes.has(id)),
    sends,
  )
  const references = await referencesOf(hot, by, ids, (id) => sends.get(outcomes.get(id)?.send ?? id))
  return ids.map((id) => {
    const outcome = outcomes.get(id)
    const send = sends.get(outcome?.send ?? id)
    const number = outcome?.number ?? numbers.get(id)
    // No number is found if history was dropped after the send was read.
    if (send === undefined || number === undefined) return 'not-found'
    const reference = references.get(id)
    const labels = reference === undefined ? send.labels : { ...send.labels, reference }
    return statusOf({ number, cost: send.price, due: send.due, outcome, labels }, since)
  })
}

/** Returns the outcomes of decided messages by id. */
async function outcomesOf(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<number, FoundOutcome>> {
  const outcomes = new Map<number, FoundOutcome>()
  const groups = byPartition(ids)
  const [row] = await hot.run(findOutcomes, {
    account: by,
    ids: groups.map(arrayOf),
    lo: groups.map((group) => Math.min(...group)),
    hi: groups.map((group) => Math.max(...group)),
  })
  if (row === undefined) return outcomes
  const found = detachRow(row)
  const codes = fromArray(found.codes)
  const unreferenced = new Set(fromArray(found.unreferenced))
  const refunded = new Set(fromArray(found.refunded))
  const times = fromTimes(found.times)
  const numbers = numbersFromArray(found.numbers)
  const sends = fromArray(found.sends)
  for (const [i, id] of fromArray(found.ids).entries()) {
    outcomes.set(id, {
      code: knownCode(elementAt(codes, i)),
      at: elementAt(times, i),
      hasReference: !unreferenced.has(id),
      isRefunded: refunded.has(id),
      number: elementAt(numbers, i),
      send: elementAt(sends, i),
    })
  }
  return outcomes
}

const partitionIds = 5_000_000

function byPartition(ids: readonly MessageId[]): readonly (readonly MessageId[])[] {
  const groups = new Map<number, MessageId[]>()
  for (const id of ids) {
    const partition = Math.floor(id / partitionIds)
    const group = groups.get(partition)
    if (group === undefined) groups.set(partition, [id])
    else group.push(id)
  }
  return [...groups.values()]
}

async function sendsCovering(
  hot: Connections,
  by: AccountId,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Send>> {
  const [row] = await hot.run(coveringSends, { account: by, ids })
  if (row === undefined) return new Map()
  const found = detachRow(row)
  const places = fromArray(found.places)
  const dues = fromArray(found.dues)
  const prices = fromArray(found.prices)
  const referenced = new Set(fromArray(found.referenced))
  const labels = fromJsonById(found.labels)
  return new Map(
    fromArray(found.ids).map((id, i) => [
      id,
      {
        first: id - elementAt(places, i),
        due: elementAt(dues, i),
        price: elementAt(prices, i),
        hasReferences: referenced.has(id),
        labels: labelsOf(labels.get(id) ?? noOptions),
      },
    ]),
  )
}

/** Returns the numbers of messages in these sends, by id. */
async function numbersOf(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
  sends: ReadonlyMap<number, Send>,
): Promise<ReadonlyMap<number, Msisdn>> {
  const groups = bySend(ids, (id) => sends.get(id)?.first)
  if (groups.sends.length === 0) return new Map()
  const [row] = await hot.run(numbersInSends, { account: by, ...groups })
  if (row === undefined) return new Map()
  const found = detachRow(row)
  const numbers = numbersFromArray(found.numbers)
  return new Map(fromArray(found.ids).map((id, i) => [id, elementAt(numbers, i)]))
}

/** Returns the client references of messages, by id. */
async function referencesOf(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
  sendOf: (id: MessageId) => Send | undefined,
): Promise<ReadonlyMap<number, MessageReference>> {
  const groups = bySend(ids, (id) => {
    const send = sendOf(id)
    return send?.hasReferences === true ? send.first : undefined
  })
  if (groups.sends.length === 0) return new Map()
  const [row] = await hot.run(referencesInSends, { account: by, ...groups })
  return fromJsonById(row?.references ?? null)
}

/** Groups ids by send. Returns the first ids of the sends and, for each send, its ids as the text of an array. */
function bySend(ids: readonly MessageId[], firstOf: (id: MessageId) => number | undefined) {
  const groups = new Map<number, number[]>()
  for (const id of ids) {
    const first = firstOf(id)
    if (first === undefined) continue
    const group = groups.get(first)
    if (group === undefined) groups.set(first, [id])
    else group.push(id)
  }
  return { sends: [...groups.keys()], ids: [...groups.values()].map(arrayOf) }
}
