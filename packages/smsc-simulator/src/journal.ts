import { closeSync, openSync, writeSync } from 'node:fs'
import { pduFields } from '@gateway/adapters-smpp/pdu'
import type { JournalEntry, PduEntry } from './journal-entry.ts'
import { latestEntries } from './latest-entries.ts'

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
