import { closeSync, openSync, writeSync } from 'node:fs'
import { pduFields, decodePdu, type ReceivedPdu } from '@gateway/smpp'

/** PDU or event of a link. */
export interface JournalEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Number of the link in this run, from 1. */
  readonly link: number
  readonly systemId: string
  readonly event: 'received' | 'sent' | 'opened' | 'closed'
  readonly pdu?: ReceivedPdu
  /** Wrong command_length with which the PDU was sent; undefined if its command_length was right. */
  readonly wrongLength?: number
}

/** PDU with its octets. The octets never change. */
export interface PduEntry extends Required<Omit<JournalEntry, 'wrongLength'>> {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Record of every PDU, in the order in which it was received or sent. */
export interface Journal {
  note(entry: JournalEntry): void
  notePdu(entry: PduEntry): void
  /** Writes the entries since the last call in one write. Written entries survive if the process is killed. */
  flush(): void
  /** Returns the latest `count` entries or all, oldest first. */
  entries(count?: number): readonly JournalEntry[]
  close(): void
}

/** Creates a journal that appends to `path`, if defined, and keeps the latest `entriesMax` entries in memory. */
export function journal(path: string | undefined, entriesMax: number): Journal {
  const file = path === undefined ? undefined : openSync(path, 'a', 0o600)
  const latest = latestEntries(entriesMax)
  let lines = ''

  return {
    note(entry) {
      latest.add(entry)
      if (file !== undefined) lines += `${JSON.stringify(lineOf(entry))}\n`
    },
    notePdu(entry) {
      latest.addPdu(entry)
      const { at, link, systemId, event, pdu } = entry
      if (file !== undefined) lines += `${JSON.stringify(lineOf({ at, link, systemId, event, pdu }))}\n`
    },
    flush() {
      if (file === undefined || lines === '') return
      const bytes = Buffer.from(lines)
      lines = ''
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    },
    entries: (count = Infinity) => latest.list(count),
    close() {
      if (file === undefined) return
      this.flush()
      closeSync(file)
    },
  }
}

/** Returns the fields of a line. Octets are hexadecimal; status and tags have the names of the standard. */
export const lineOf = ({ at, pdu, ...rest }: JournalEntry): Record<string, unknown> => ({
  ...{ at: new Date(at).toISOString(), ...rest },
  ...(pdu === undefined ? {} : pduFields(pdu)),
})

/** Bounded list of the latest entries of a journal. */
export interface LatestEntries {
  add(entry: JournalEntry): void
  /** Adds a PDU. Only the octets are kept; `list` decodes them again. */
  addPdu(entry: PduEntry): void
  /** Returns the latest `count` entries, oldest first. */
  list(count: number): readonly JournalEntry[]
}

/**
 * Creates the list. It stores each property in an array of its own, because the garbage collector would move one object
 * per PDU several times.
 */
export function latestEntries(entriesMax: number): LatestEntries {
  const ats = new Float64Array(entriesMax)
  const links = new Float64Array(entriesMax)
  const starts = new Uint32Array(entriesMax)
  const ends = new Uint32Array(entriesMax)
  const systemIds: string[] = []
  const events: JournalEntry['event'][] = []
  /** For each entry, the entry itself or the buffer with the octets of its PDU. */
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
