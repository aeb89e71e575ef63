import type { AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { Deletion, MessageId, MessageStatus } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { Connection, Connections } from '../connections.ts'
import { statuses } from '../messages/statuses.ts'
import { findParts } from '../sql/smpp-parts.ts'
import type { RowOf } from '../sql/statement.ts'

type PartRow = RowOf<typeof findParts>

async function partsById(
  connection: Connection,
  account: AccountId | undefined,
  ids: readonly MessageId[],
): Promise<ReadonlyMap<MessageId, PartRow>> {
  if (ids.length === 0) return new Map()
  const rows = await connection.run(findParts, { account, ids: [...new Set(ids)] })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the message of a part's text, or undefined if there is none. */
export async function messageOfPart(
  connection: Connection,
  id: MessageId,
  account?: AccountId,
): Promise<MessageId | undefined> {
  const part = (await partsById(connection, account, [id])).get(id)
  return part?.message ?? undefined
}

const missing = <Found>(ids: readonly MessageId[], found: readonly Found[], isMissing: (one: Found) => boolean) =>
  ids.filter((_, i) => {
    const one = found[i]
    return one === undefined || isMissing(one)
  })

/**
 * Returns statuses as `statuses` does, also for ids of parts. Only ids without a message are looked up as parts.
 */
export async function withParts(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
  since: Instant,
): Promise<readonly MessageStatus[]> {
  const found = await statuses(hot, by, ids, since)
  const parts = await partsById(
    hot,
    by,
    missing(ids, found, (status) => status === 'not-found'),
  )
  if (parts.size === 0) return found
  const messages = [...new Set([...parts.values()].flatMap(({ message }) => message ?? []))]
  const ofMessages = await statuses(hot, by, messages, since)
  const byMessage = new Map(messages.map((message, i) => [message, ofMessages[i] ?? ('not-found' as const)]))
  return ids.map((id, i) => {
    const status = found[i] ?? 'not-found'
    const part = parts.get(id)
    if (status !== 'not-found' || part === undefined) return status
    return part.message === null ? statusOfPart(part, since) : (byMessage.get(part.message) ?? 'not-found')
  })
}

/** Returns the status of a part that belongs to no message (rulings 5.1, 5.2). */
function statusOfPart({ number, code, at, stored }: PartRow, since: Instant): MessageStatus {
  const cost = credits(0)
  if (code === null || at === null) return { code: 'waiting', number, cost }
  return stored < since ? 'not-found' : { code, at, number, cost, staysCharged: false }
}

/** Deletes messages as `remove` does, also by the ids of their parts. A part without a message cannot be deleted. */
export async function deletionsWithParts(
  hot: Connections,
  by: AccountId,
  ids: readonly MessageId[],
  remove: (ids: readonly MessageId[]) => Promise<readonly Deletion[]>,
): Promise<readonly Deletion[]> {
  const deletions = await remove(ids)
  const parts = await partsById(
    hot,
    by,
    missing(ids, deletions, ({ outcome }) => outcome === 'not-found'),
  )
  const joined = ids.flatMap((id) => parts.get(id)?.message ?? [])
  const ofMessages = joined.length === 0 ? [] : [...(await remove(joined))]
  return ids.map((id, i) => {
    const part = parts.get(id)
    const deletion = deletions[i] ?? { outcome: 'not-found' as const }
    if (part === undefined) return deletion
    if (part.message === null) return { outcome: 'sent', number: part.number }
    return ofMessages.shift() ?? deletion
  })
}
