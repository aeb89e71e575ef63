import { closeSync, openSync, writeSync } from 'node:fs'
import { pduFields, decodePdu, type ReceivedPdu } from '@gateway/smpp'

/** One PDU, or what happened to a link. */
export interface JournalEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Counts the links of this run from 1. */
  readonly link: number
  readonly systemId: string
  readonly event: 'received' | 'sent' | 'opened' | 'closed'
  readonly pdu?: ReceivedPdu
  /** Sent with this command_length instead of the right one. */
  readonly wrongLength?: number
}

/** A PDU with its octets, which are not written to again. */
export interface PduEntry extends Required<Omit<JournalEntry, 'wrongLength'>> {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Every PDU in the order in which it was received or sent. */
export interface Journal {
  note(entry: JournalEntry): void
  notePdu(entry: PduEntry): void
  /** Writes what was noted since the last call in one write; what was written survives a killed process. */
  flush(): void
  /** The latest entries, so many or all, oldest first. */
  entries(count?: number): readonly JournalEntry[]
  close(): void
}

/** Appends to `path`, if there is one, and keeps the latest `entriesMax`. */
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

/** The fields of a line: octets are hexadecimal, the status and the tags have the names of the standard. */
export const lineOf = ({ at, pdu, ...rest }: JournalEntry): Record<string, unknown> => ({
  ...{ at: new Date(at).toISOString(), ...rest },
  ...(pdu === undefined ? {} : pduFields(pdu)),
})

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
