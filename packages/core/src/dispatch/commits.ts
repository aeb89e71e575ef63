import type { Clock } from '../time/instant.ts'
import type { InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'
import { createGathering, type Coming, type Later, type OutcomeWriter, type Written } from './outcome-writer.ts'

interface CommitParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly markSize: (batch: OpenBatch) => number
  /** Called after each commit. */
  readonly committed: (written: Written) => void
}

/**
 * Decides when waiting outcomes are committed: one commit at a time, each with as many outcomes as is worth waiting
 * for.
 */
export type Commits = ReturnType<typeof createCommits>

export function createCommits(
  { clock, later }: { readonly clock: Clock; readonly later?: Later | undefined },
  { inFlight, outcomes, markSize, committed }: CommitParts,
) {
  const gathering = createGathering(clock, later)
  let isWriting = false

  /**
   * Returns the answers still to come, counting the messages that could be marked now: a carrier with a small window
   * answers several windows during one commit.
   */
  function coming(): Coming {
    const marked = Math.max(0, ...inFlight.batches().map((batch) => markSize(batch)))
    return { unanswered: inFlight.unanswered.size, leaving: inFlight.leaving() + marked }
  }

  const isWorthIt = (): boolean => outcomes.gathering() === 0 || !gathering.isWorthIt(coming, () => void write(true))

  /**
   * Commits the waiting outcomes and those that arrive meanwhile, unless more are expected soon; with `flush`, in any
   * case. Outcomes whose commit failed wait for the next call. Never rejects.
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
    /** Counts answers of the carrier. */
    answered: (count: number): void => gathering.answered(count),
  }
}
