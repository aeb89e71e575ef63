import type { Clock } from '../time/instant.ts'
import { Gathering, type Coming, type Later } from './gathering.ts'
import type { InFlight } from './in-flight.ts'
import type { OpenBatch } from './open-batch.ts'
import type { OutcomeWriter, Written } from './outcome-writer.ts'

interface CommitParts {
  readonly inFlight: InFlight
  readonly outcomes: OutcomeWriter
  readonly markSize: (batch: OpenBatch) => number
  /** Called after each commit. */
  readonly committed: (written: Written) => void
}

/**
 * Decides when waiting outcomes are committed. Only one commit runs at a time. A commit is delayed for a moment while
 * the carrier's answers to further messages are expected (`Gathering`), so that it stores more outcomes.
 *
 *   idle --write--> writing --outcomes wait, none failed--> writing
 *                     +--nothing waits, more are expected soon, or a commit failed--> idle
 */
export class Commits {
  readonly #parts: CommitParts
  readonly #gathering: Gathering
  #isWriting = false

  constructor({ clock, later }: { readonly clock: Clock; readonly later?: Later | undefined }, parts: CommitParts) {
    this.#parts = parts
    this.#gathering = new Gathering(clock, later)
  }

  /**
   * Commits the waiting outcomes, and outcomes that arrive during the commit. Does nothing while more outcomes are
   * expected soon, unless `flush` is true. Outcomes whose commit failed wait for the next call. Never rejects.
   */
  async write(flush = false): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    const { outcomes, committed } = this.#parts
    for (let goesOn = true; goesOn && outcomes.size > 0 && (flush || this.#isWorthIt()); flush = false) {
      this.#gathering.ended()
      const written = await outcomes.write()
      goesOn = written.problems.length === 0
      committed(written)
    }
    this.#isWriting = false
  }

  /** Records that the carrier answered `count` messages. */
  answered(count: number): void {
    this.#gathering.answered(count)
  }

  #isWorthIt(): boolean {
    if (this.#parts.outcomes.gathering === 0) return true
    return !this.#gathering.isWorthIt(this.#coming, () => void this.write(true))
  }

  /**
   * Returns the numbers of answers still to come. Messages that could be marked now are included, because a carrier
   * with a small window answers several windows during one commit.
   */
  #coming = (): Coming => {
    const { inFlight, markSize } = this.#parts
    const marked = Math.max(0, ...inFlight.batches().map((batch) => markSize(batch)))
    return { unanswered: inFlight.unanswered.size, leaving: inFlight.leaving() + marked }
  }
}
