import type { CarrierId, MessageId } from '@gateway/core'
import type { MemoryStore } from './store.ts'

/** Notes what is rare and tells a trace. */
export function note(store: MemoryStore, id: MessageId, what: string, carrier?: CarrierId): void {
  const incidents = store.incidents.get(id) ?? []
  store.incidents.set(id, incidents)
  incidents.push({ at: store.clock.now(), what, carrier })
}
