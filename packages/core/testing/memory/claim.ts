import type { AccountId } from '@gateway/core/accounts'
import type { CarrierId, ClaimedMessage, ClaimedBatch, ClaimedBatchId, Wanted } from '@gateway/core/dispatch'
import { INCIDENT, senderOver } from '@gateway/core/messages'
import { noRoute } from '@gateway/core/routes'
import { secondsAfter } from '@gateway/core/time'
import { allowedTo } from './messages.ts'
import { note } from './incidents.ts'
import type { Rotation } from './rotation.ts'
import type { DispatcherRow, ClaimedRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { suppressionsOf } from './suppressions.ts'

export function claim(
  store: MemoryStore,
  dispatcher: DispatcherRow | undefined,
  request: Wanted,
): ClaimedBatch | 'nothing' | 'fenced' {
  if (dispatcher === undefined) return 'fenced'
  const { queue = noRoute, fresh = false, overflowSeconds } = request
  const isWanted = ({ attempt, send }: Range): boolean =>
    (!fresh || attempt === 0) &&
    (overflowSeconds === undefined || secondsAfter(send.due, overflowSeconds) <= store.clock.now())
  const due = store.due.of(queue, request.lane)
  const ranges =
    request.lane === 'single'
      ? takeRanges(due, request.messagesMax, isWanted)
      : takeOfOneAccount(due, request.messagesMax, isWanted)
  if (ranges.length === 0) return 'nothing'

  const at = store.clock.now()
  dispatcher.leaseUntil = secondsAfter(at, request.leaseSeconds)
  const claimedRows = ranges
    .flatMap(({ messages, attempt }) => messages.map((row) => ({ row, attempt })))
    .sort((a, b) => a.row.id - b.row.id)
    .map((message, i): ClaimedRow => ({ ...message, position: i + 1 }))
  const marked = Math.min(request.markedMax, claimedRows.length)
  const id = store.next('batch') as ClaimedBatchId
  dispatcher.batches.set(id, {
    carrier: request.carrier,
    queue,
    marked,
    messages: new Map(claimedRows.map((one) => [one.row.id, one])),
  })
  if (overflowSeconds !== undefined)
    for (const { row } of claimedRows) note(store, row.id, INCIDENT.overflow, request.carrier)
  return { id, at, marked, messages: claimedRows.map((one) => claimed(store, one, request.carrier)) }
}

/** Removes one range of each account in turn, until there are enough messages. */
function takeRanges(due: Rotation, messagesMax: number, isWanted: (range: Range) => boolean): readonly Range[] {
  const ranges: Range[] = []
  for (let count = 0; count < messagesMax;) {
    const range = due.next(isWanted)
    if (range === undefined) break
    ranges.push(range)
    count += range.messages.length
  }
  return ranges
}

/** Removes the first waiting ranges of the account whose turn it is. */
function takeOfOneAccount(due: Rotation, messagesMax: number, isWanted: (range: Range) => boolean): readonly Range[] {
  const ranges: Range[] = []
  let room = messagesMax
  const nextOf = (account: AccountId): Range | undefined => (room > 0 ? due.nextOf(account, isWanted) : undefined)
  for (let range = due.next(isWanted); range !== undefined; range = nextOf(range.send.account)) {
    const messages = range.messages.slice(0, room)
    ranges.push({ ...range, messages })
    if (messages.length < range.messages.length) due.add({ ...range, messages: range.messages.slice(room) })
    room -= messages.length
  }
  return ranges
}

export function claimed(store: MemoryStore, { row, attempt }: ClaimedRow, carrier: CarrierId): ClaimedMessage {
  const { first, account, body, due, expires, confirmation } = row.send
  const { validity: _, ...options } = row.send.options
  return {
    id: row.id,
    send: first,
    account,
    ...senderOver(carrier, allowedTo(store, account), row.from),
    to: row.number,
    body,
    due,
    expires,
    options,
    confirmation,
    attempt,
    accountLocked: store.accounts.get(account)?.account.locked ?? true,
    suppressions: suppressionsOf(store, account, row.number),
  }
}
