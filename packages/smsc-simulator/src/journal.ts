import { closeSync, openSync, writeSync } from 'node:fs'
import { COMMAND_ID, commandStatusName, tlvName, type ReceivedPdu, type Tlv } from '@gateway/adapters-smpp/pdu'

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
export function lineOf({ at, pdu, ...rest }: JournalEntry): Record<string, unknown> {
  const line: Record<string, unknown> = { at: new Date(at).toISOString(), ...rest }
  if (pdu !== undefined) for (const [name, value] of Object.entries(pdu)) line[name] = shown(name, value)
  if (pdu !== undefined && pdu.command in COMMAND_ID && pdu.status === 0) delete line['status']
  if ('password' in line) line['password'] = '***'
  return line
}

function shown(name: string, value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex')
  if (name === 'status') return commandStatusName(value as number)
  if (name !== 'tlvs') return value
  const tlvs = value as readonly Tlv[]
  return tlvs.length === 0 ? undefined : tlvs.map(({ tag, value: octets }) => [tlvName(tag), octets.toString('hex')])
}
