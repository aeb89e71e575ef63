import {
  credits,
  instant,
  type AccountId,
  type FoundMessage,
  type FoundLocation,
  type Instant,
  type MessageId,
  type MessageSearch,
  type SenderAddress,
} from '@gateway/core'
import type { Connections } from '../connections.ts'
import { timestamp } from '../sql/arrays.ts'
import { findMessages as statement, type FoundRow } from '../sql/find-messages.ts'
import { knownCode } from './known-code.ts'

export async function findMessages(
  ordinary: Connections,
  { number, account, from, to, after }: MessageSearch,
  decidedSince: Instant,
  limit: number,
): Promise<readonly FoundMessage[]> {
  const bound = (at: Instant | undefined) => (at === undefined ? null : timestamp(at))
  const values = [bound(from), bound(to), bound(after?.due), after?.id ?? null, timestamp(decidedSince), limit]
  return (await ordinary.run(statement, [number, account ?? null, ...values])).map(foundOf)
}

const foundOf = (row: FoundRow): FoundMessage => ({
  id: row.id as MessageId,
  account: row.account as AccountId,
  from: (row.from ?? undefined) as SenderAddress | undefined,
  confirmation: row.confirms,
  accepted: instant(row.accepted),
  due: instant(row.due),
  scheduled: row.scheduled,
  cost: credits(row.price),
  place: placeOf(row),
})

function placeOf({ place, code, at, attempt, marked }: FoundRow): FoundLocation {
  if (place === 'decided') return { place, code: knownCode(code), at: instant(at) }
  if (place === 'scheduled') return { place, due: instant(at) }
  if (place === 'postponed') return { place, until: instant(at), attempt }
  return place === 'queue' ? { place, attempt } : { place, attempt, marked }
}
