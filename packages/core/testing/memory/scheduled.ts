import {
  OUTCOME,
  undeletedOutcome,
  type AccountId,
  type Deletion,
  type Instant,
  type MessageId,
  type Page,
  type Paged,
  type ScheduledMessage,
} from '@gateway/core'
import { isDeletable } from '../contracts/specification/messages.ts'
import { endRefunded } from './decide.ts'
import { factsOf } from './facts.ts'
import type { MessageRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'

const waitingOf = (store: MemoryStore) => [store.later, ...store.due.all()] as const

const canGo = ({ send, attempt }: Range): boolean => isDeletable(send.scheduled, attempt)

export function scheduled(store: MemoryStore, by: AccountId, page: Page): Paged<ScheduledMessage> {
  const rows = waitingOf(store)
    .flatMap((waiting) => waiting.allOf(by).filter(canGo))
    .flatMap(({ messages }) => messages)
    .sort((a, b) => a.send.due - b.send.due || a.id - b.id)
  const items = rows
    .slice(page.offset, page.offset + page.limit)
    .map(({ id, number, cost, send: { submitted, due } }) => ({ id, number, submitted, due, cost }))
  return { total: rows.length, items }
}

export function deleteScheduled(
  store: MemoryStore,
  by: AccountId,
  ids: readonly MessageId[],
  since: Instant,
): readonly Deletion[] {
  const gone = takeOut(store, by, new Set(ids))
  for (const row of gone) endRefunded(store, row, OUTCOME.cancelled, undefined)
  return ids.map((id) => {
    const row = store.messages.get(id)
    // The second time that it is asked for, it has been deleted.
    if (row !== undefined && gone.delete(row)) return { outcome: 'deleted', number: row.number, refunded: row.cost }
    const outcome = row?.send.account === by ? undeletedOutcome(factsOf(row), since) : 'not-found'
    return row === undefined || outcome === 'not-found' ? { outcome: 'not-found' } : { outcome, number: row.number }
  })
}

/** Takes what can be deleted out of the queue; what moved together with it waits on. */
function takeOut(store: MemoryStore, by: AccountId, ids: ReadonlySet<MessageId>): Set<MessageRow> {
  const isMeant = ({ id }: MessageRow) => ids.has(id)
  const isCut = (range: Range) => range.send.account === by && canGo(range) && range.messages.some(isMeant)
  const gone = new Set<MessageRow>()
  for (const waiting of waitingOf(store)) {
    for (const range of waiting.takeAll(isCut, Infinity)) {
      for (const row of range.messages.filter(isMeant)) gone.add(row)
      const messages = range.messages.filter((row) => !isMeant(row))
      if (messages.length > 0) waiting.add({ ...range, messages })
    }
  }
  return gone
}
