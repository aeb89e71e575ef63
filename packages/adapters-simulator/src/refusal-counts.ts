import { messageId, type MessageId } from '@gateway/core'
import { fieldsOf } from './lines.ts'

/** How often each message was refused for now and has not got its answer since. */
export interface RefusalCounts {
  /** Counts a line of the record. */
  note(line: string): void
  /** Whether there is anything to note in these lines. */
  mayConcern(lines: string): boolean
  of(id: MessageId): number
}

const marker = '"refused-for-now"'

export function refusalCounts(): RefusalCounts {
  const counts = new Map<MessageId, number>()
  return {
    mayConcern: (lines) => counts.size > 0 || lines.includes(marker),
    note(line) {
      // Most records know no refusal: their lines need not be read any further.
      const isRefused = line.includes(marker)
      if (!isRefused && counts.size === 0) return
      const id = messageId(Number(fieldsOf(line)?.('messageId')))
      if (id === undefined) return
      if (isRefused) counts.set(id, (counts.get(id) ?? 0) + 1)
      else counts.delete(id)
    },
    of: (id) => counts.get(id) ?? 0,
  }
}
