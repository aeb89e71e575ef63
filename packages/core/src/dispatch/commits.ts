import type { Clock } from '../time/instant.ts'
import type { InFlight, OpenBatch } from './in-flight.ts'
import { createGathering, type Coming, type Later, type OutcomeWriter, type Written } from './outcome-writer.ts'

interface CommitParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly markSize: (batch: OpenBatch) => number
  /** Called after each commit. */
  readonly committed: (written: Written) => void
}

/** When the outcomes that wait are committed: one commit at a time, and as many together as is worth it. */
export type Commits = ReturnType<typeof createCommits>

export function createCommits(
  { clock, later }: { readonly clock: Clock; readonly later?: Later | undefined },
  { inFlight, outcomes, markSize, committed }: CommitParts,
) {
  const gathering = createGathering(clock, later)
  let isWriting = false

  /** What the carrier owes, and what may be marked for it now: a small window is answered several times in a commit. */
  function coming(): Coming {
    const marked = Math.max(0, ...inFlight.batches().map((batch) => markSize(batch)))
    return { unanswered: inFlight.unanswered.size, leaving: inFlight.leaving() + marked }
  }

  const isWorthIt = (): boolean => outcomes.gathering() === 0 || !gathering.isWorthIt(coming, () => void write(true))

  /**
   * Commits the outcomes that wait, and those that come meanwhile, unless more of them come soon; `flush`: in any
   * case. What failed waits for the next call. Never rejects.
   */
  async function write(flush = false): Promise<void> {
    if (isWriting) return
    isWriting = true
    for (let goesOn = true; goesOn && outcomes.size() > 0 && (flush || isWorthIt()); flush = false) {
      gathering.ended()
      const written = await outcomes.write()
      goesOn = written.problems.length === 0
      committed(written)
    }
    isWriting = false
  }

  return {
    write,
    /** So many answers of the carrier came. */
    answered: (count: number): void => gathering.answered(count),
  }
}
