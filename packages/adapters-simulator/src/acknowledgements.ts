import { fieldsOf } from './lines.ts'
import { placeOf, type Place } from './references.ts'

/** How many receipts of each message were acknowledged. */
export interface Acknowledgements {
  /** Counts a line of the record. */
  note(line: string): void
  of(place: Place): number
}

/** Takes a byte for each message. */
export function acknowledgements(): Acknowledgements {
  const runs = new Map<string, Uint8Array>()
  return {
    note(line) {
      const at = placeOf(fieldsOf(line)?.('carrierId'))
      if (at === undefined) return
      let counts = runs.get(at.run) ?? new Uint8Array(1024)
      if (at.position >= counts.length) {
        const grown = new Uint8Array(Math.max(at.position + 1, counts.length * 2))
        grown.set(counts)
        counts = grown
      }
      runs.set(at.run, counts)
      counts[at.position] = Math.min(255, (counts[at.position] ?? 0) + 1)
    },
    of: ({ run, position }) => runs.get(run)?.[position] ?? 0,
  }
}
