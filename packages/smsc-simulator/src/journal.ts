import { closeSync, openSync, writeSync } from 'node:fs'
import { pduFields, type ReceivedPdu } from '@gateway/adapters-smpp/pdu'

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

/** Every PDU in the order in which it was received or sent. */
export interface Journal {
  note(entry: JournalEntry): void
  /** Writes what was noted since the last call in one write; what was written survives a killed process. */
  flush(): void
  /** The latest entries, oldest first. */
  entries(): readonly JournalEntry[]
  close(): void
}

/** Appends to `path`, if there is one, and keeps at least the latest `entriesMax`, and at most twice as many. */
export function journal(path: string | undefined, entriesMax: number): Journal {
  const file = path === undefined ? undefined : openSync(path, 'a', 0o600)
  let latest: JournalEntry[] = []
  let lines = ''

  return {
    note(entry) {
      latest.push(entry)
      if (latest.length > 2 * entriesMax) latest = latest.slice(-entriesMax)
      if (file !== undefined) lines += `${JSON.stringify(lineOf(entry))}\n`
    },
    flush() {
      if (file === undefined || lines === '') return
      const bytes = Buffer.from(lines)
      lines = ''
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    },
    entries: () => latest,
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
