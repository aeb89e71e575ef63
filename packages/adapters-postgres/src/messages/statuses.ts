import {
  credits,
  instant,
  outcomeCode,
  type AccountId,
  type Instant,
  type KnownStatus,
  type MessageId,
  type MessageStatus,
  type Msisdn,
} from '@gateway/core'
import type { Connections } from '../connections.ts'
import { arrayOf, fromArray, fromTimes, textsFromArray } from '../sql/arrays.ts'
import { coveringSends, findOutcomes } from '../sql/status.ts'

interface Outcome {
  readonly code: number
  readonly at: number
  readonly number: string
  readonly send: number
  /** A carrier took it, or may have: it stays charged (ruling 1.4). */
  readonly charged: boolean
}

interface Send {
  readonly due: number
  readonly price: number
}

/**
 * Two statements: first what is decided, then the sends of those and of what is not. A message that is decided between the two
 * was waiting when the first one looked.
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
  return ids.map((id) => {
    const outcome = outcomes.get(id)
    const send = sends.get(outcome?.send ?? id)
    if (send === undefined) return 'not-found'
    return outcome === undefined ? 'waiting' : statusOf(outcome, send, since)
  })
}

/** By id, of those that are decided. */
async function outcomesOf(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<number, Outcome>> {
  const outcomes = new Map<number, Outcome>()
  const groups = byPartition(ids)
  const [row] = await hot.run(findOutcomes, [
    by,
    `{${groups.map((group) => `"${arrayOf(group)}"`).join()}}`,
    arrayOf(groups.map((group) => Math.min(...group))),
    arrayOf(groups.map((group) => Math.max(...group))),
  ])
  if (row === undefined) return outcomes
  const codes = fromArray(row.codes)
  const times = fromTimes(row.times)
  const numbers = textsFromArray(row.numbers)
  const sends = fromArray(row.sends)
  for (const [i, id] of fromArray(row.ids).entries()) {
    const code = codes[i] ?? NaN
    outcomes.set(id, {
      code: code < 0 ? -1 - code : code,
      at: times[i] ?? NaN,
      number: numbers[i] ?? '',
      send: sends[i] ?? NaN,
      charged: code >= 0,
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
  const [row] = await hot.run(coveringSends, [by, arrayOf(ids)])
  if (row === undefined) return new Map()
  const dues = fromArray(row.dues)
  const prices = fromArray(row.prices)
  return new Map(fromArray(row.ids).map((id, i) => [id, { due: dues[i] ?? NaN, price: prices[i] ?? NaN }]))
}

function statusOf(
  { code, at, number, charged }: Outcome,
  { due, price }: Send,
  since: Instant,
): KnownStatus | 'not-found' {
  if (due < since) return 'not-found'
  const known = outcomeCode(code)
  if (known === undefined) throw new Error(`a message has the code ${code}`)
  return { code: known, at: instant(at), number: number as Msisdn, cost: credits(charged ? price : 0) }
}
