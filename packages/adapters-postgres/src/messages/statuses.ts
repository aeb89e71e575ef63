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
  const wanted = new Set(ids.map((id, i) => outcomes[i]?.send ?? id))
  const rows = await hot.run(coveringSends, [by, arrayOf([...wanted])])
  const sends = new Map<number, Send>(rows.map((row) => [row.id, row]))
  return ids.map((id, i) => {
    const outcome = outcomes[i]
    const send = sends.get(outcome?.send ?? id)
    if (send === undefined) return 'not-found'
    return outcome === undefined ? 'waiting' : statusOf(outcome, send, since)
  })
}

async function outcomesOf(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
): Promise<readonly (Outcome | undefined)[]> {
  const [row] = await hot.run(findOutcomes, [by, arrayOf(ids)])
  if (row === undefined) return []
  const [times, numbers, sends, charged] = [row.times, row.numbers, row.sends, row.accepted].map(fromArray)
  return fromArray(row.codes).map((code, i) => {
    const number = numbers?.[i]
    if (code === undefined || number === undefined) return undefined
    return {
      code: Number(code),
      at: Number(times?.[i]),
      number,
      send: Number(sends?.[i]),
      charged: charged?.[i] === '1',
    }
  })
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
