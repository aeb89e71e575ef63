import { routeNumberOf, type QueueNumber } from '@gateway/core'
import type { MessageRow, Range } from './rows.ts'
import type { MemoryStore } from './store.ts'
import { wakeSleepers } from './wakeups.ts'

/** Moves what is due in queues from which nobody claims any more; returns how many ranges. */
export function reroute(store: MemoryStore, rangesMax: number): number {
  const { published } = store.routes
  const claimed = published.flatMap(({ queues }) => queues.map(({ number }) => number))
  const isStranded = ({ queue }: Range) => (published.length === 0 ? queue !== 0 : !claimed.includes(queue))
  let moved = 0
  for (const waiting of store.due.all()) {
    for (const range of waiting.takeAll(isStranded, rangesMax - moved)) {
      for (const part of partsOf(store, range)) store.due.add(part)
      moved++
    }
  }
  if (moved > 0) wakeSleepers(store)
  return moved
}

function partsOf(store: MemoryStore, range: Range): readonly Range[] {
  const parts: { queue: QueueNumber; messages: MessageRow[] }[] = []
  for (const row of range.messages) {
    const { account } = range.send
    const queue = routeNumberOf(store.routes.published, { account, from: row.from, to: row.number })
    const last = parts.at(-1)
    if (last?.queue === queue) last.messages.push(row)
    else parts.push({ queue, messages: [row] })
  }
  return parts.map((part) => ({ ...range, ...part }))
}
