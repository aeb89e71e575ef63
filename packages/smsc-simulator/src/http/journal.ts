import { closeSync, openSync, writeSync } from 'node:fs'
import type { HttpJournalEntry } from './settings.ts'

/** Record of messages and callbacks. */
export interface HttpJournal {
  /** Adds an entry. Its line is in the file when `flush` returns. */
  note(entry: HttpJournalEntry): void
  flush(): void
  /** Returns the latest `count` entries or all, oldest first. */
  entries(count?: number): readonly HttpJournalEntry[]
  close(): void
}

/** Creates a journal that appends to `path`, if defined, and keeps the latest `entriesMax` entries in memory. */
export function httpJournal(path: string | undefined, entriesMax: number): HttpJournal {
  const file = path === undefined ? undefined : openSync(path, 'a', 0o600)
  const latest: HttpJournalEntry[] = []
  let total = 0
  let lines = ''
  const flush = (): void => {
    if (file === undefined || lines === '') return
    const bytes = Buffer.from(lines)
    lines = ''
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  }
  return {
    note(entry) {
      latest[total++ % entriesMax] = entry
      if (file !== undefined) lines += `${JSON.stringify(lineOf(entry))}\n`
    },
    flush,
    entries(count = Infinity) {
      const length = Math.min(total, entriesMax, count)
      return Array.from({ length }, (_, nth) => latest[(total - length + nth) % entriesMax]).flatMap((entry) =>
        entry === undefined ? [] : [entry],
      )
    },
    close() {
      if (file === undefined) return
      flush()
      closeSync(file)
    },
  }
}

/** Returns an entry with its time in ISO 8601. */
export const lineOf = ({ at, ...rest }: HttpJournalEntry): Record<string, unknown> => ({
  at: new Date(at).toISOString(),
  ...rest,
})
