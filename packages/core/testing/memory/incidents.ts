import type { CarrierId } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import type { MemoryStore } from './store.ts'

/** Records a rare incident for the trace of a message. */
export function note(store: MemoryStore, id: MessageId, incident: string, carrier?: CarrierId): void {
  const incidents = store.incidents.get(id) ?? []
  store.incidents.set(id, incidents)
  incidents.push({ at: store.clock.now(), name: incident, carrier })
}
