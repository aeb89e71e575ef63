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
import { arrayOf, fromArray } from '../sql/arrays.ts'
import { coveringSends, findOutcomes } from '../sql/status.ts'

interface Outcome {
  readonly code: number
  readonly at: number
  readonly number: number
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
  const sends = await sendsCovering(hot, by, [...new Set(ids.map((id, i) => outcomes[i]?.send ?? id))])
  return ids.map((id, i) => {
    const outcome = outcomes[i]
    const send = sends.get(outcome?.send ?? id)
    if (send === undefined) return 'not-found'
    return outcome === undefined ? 'waiting' : statusOf(outcome, send, since)
  })
}

/** In the places of their ids; empty where nothing is decided. */
async function outcomesOf(hot: Connections, by: AccountId, ids: readonly MessageId[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const [row] = await hot.run(findOutcomes, [by, arrayOf(ids)])
  if (row === undefined) return outcomes
  const column = {
    code: fromArray(row.codes),
    at: fromArray(row.times),
    number: fromArray(row.numbers),
    send: fromArray(row.sends),
    charged: fromArray(row.accepted),
  }
  for (const [i, place] of fromArray(row.places).entries()) {
    outcomes[place - 1] = {
      code: column.code[i] ?? NaN,
      at: column.at[i] ?? NaN,
      number: column.number[i] ?? NaN,
      send: column.send[i] ?? NaN,
      charged: column.charged[i] === 1,
    }
  }
  return outcomes
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
  return { code: known, at: instant(at), number: String(number) as Msisdn, cost: credits(charged ? price : 0) }
}
