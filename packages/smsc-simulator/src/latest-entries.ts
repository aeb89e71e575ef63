import { decodePdu } from '@gateway/adapters-smpp/pdu'
import type { JournalEntry, PduEntry } from './journal-entry.ts'

/** The latest entries of a journal, up to a number. */
export interface LatestEntries {
  add(entry: JournalEntry): void
  /** Keeps the octets; the PDU is read again when it is asked for. */
  addPdu(entry: PduEntry): void
  /** The latest `count`, oldest first. */
  list(count: number): readonly JournalEntry[]
}

/** In columns: the collection of garbage would have to move an object for each PDU, several times. */
export function latestEntries(entriesMax: number): LatestEntries {
  const ats = new Float64Array(entriesMax)
  const links = new Float64Array(entriesMax)
  const starts = new Uint32Array(entriesMax)
  const ends = new Uint32Array(entriesMax)
  const systemIds: string[] = []
  const events: JournalEntry['event'][] = []
  /** An entry as it is, or the buffer that has the octets of its PDU. */
  const holders: (JournalEntry | Buffer)[] = []
  let total = 0

  function read(at: number): JournalEntry[] {
    const [holder, systemId, event] = [holders[at], systemIds[at], events[at]]
    if (holder === undefined || systemId === undefined || event === undefined) return []
    if (!Buffer.isBuffer(holder)) return [holder]
    const pdu = decodePdu(holder, starts[at], ends[at])
    return [{ at: ats[at] ?? 0, link: links[at] ?? 0, systemId, event, pdu }]
  }

  return {
    add(entry) {
      const at = total++ % entriesMax
      holders[at] = entry
      systemIds[at] = entry.systemId
      events[at] = entry.event
    },
    addPdu(entry) {
      const at = total++ % entriesMax
      ats[at] = entry.at
      links[at] = entry.link
      starts[at] = entry.start
      ends[at] = entry.end
      systemIds[at] = entry.systemId
      events[at] = entry.event
      holders[at] = entry.bytes
    },
    list(count) {
      const length = Math.min(total, entriesMax, count)
      return Array.from({ length }, (_, nth) => read((total - length + nth) % entriesMax)).flat()
    },
  }
}
