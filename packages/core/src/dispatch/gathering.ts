import type { Clock } from '../time/instant.ts'

/** Calls `call` after this many milliseconds, or never if its purpose has ended. */
export type Later = (milliseconds: number, call: () => void) => void

/** Answers that may arrive soon: of outstanding submissions, and of marked messages about to be submitted. */
export interface Coming {
  readonly unanswered: number
  readonly leaving: number
}

/**
 * Maximum milliseconds that answers wait, including marks and round trips. With a carrier that answers at once, batches
 * grow from 75 to 113 messages; with a window of 50, from 49 to 150–175. On a busy machine 8 ms were too short.
 */
const gatherMilliseconds = 25
/** Milliseconds without waiting after a wait in vain; doubles each further time. */
const pauseMilliseconds = 25
const pauseMillisecondsMax = 1000

/**
 * Returns 0 once everything has been submitted, because a trickle of messages would otherwise wait for ever more of
 * itself.
 */
const further = ({ unanswered, leaving }: Coming): number => (leaving === 0 ? 0 : unanswered + leaving)

/** Number of answers still waited for, and whether the first expected number has arrived. */
interface Awaited {
  count: number
  isMet: boolean
}

/**
 * Lets a carrier's answers wait for further answers that arrive within a moment, so that one commit stores them all.
 *
 *   none wait --isWorthIt, more are expected--> waiting --as many arrived, or 25 ms passed--> ended --> none wait
 *
 * After a wait in vain, answers do not wait for a pause that doubles each further time. Without `later` they never
 * wait.
 */
export class Gathering {
  readonly #clock: Clock
  readonly #later: Later | undefined
  #awaited: Awaited | undefined
  #pause = pauseMilliseconds
  #notBefore = -Infinity

  constructor(clock: Clock, later: Later | undefined) {
    this.#clock = clock
    this.#later = later
  }

  /** Counts answers. */
  answered(count: number): void {
    if (this.#awaited === undefined) return
    this.#awaited.count -= count
    if (this.#awaited.count <= 0) this.#awaited.isMet = true
  }

  /**
   * Returns true if the waiting answers should wait for more: for the number expected at the first call, and then for
   * as many again, as long as more may be submitted. `over` is called when they should be stored after all.
   */
  isWorthIt(coming: () => Coming, over: () => void): boolean {
    if (this.#awaited !== undefined) {
      if (this.#awaited.count <= 0) this.#awaited.count = further(coming())
      return this.#awaited.count > 0
    }
    if (this.#later === undefined || this.#clock.now() < this.#notBefore) return false
    const { unanswered, leaving } = coming()
    if (unanswered + leaving === 0) return false
    const begun: Awaited = (this.#awaited = { count: unanswered + leaving, isMet: false })
    this.#later(gatherMilliseconds, () => {
      if (this.#awaited !== begun) return
      if (!begun.isMet) this.#giveUp()
      over()
    })
    return true
  }

  /** Reports that the waiting answers are being stored. */
  ended(): void {
    if (this.#awaited?.isMet === true) this.#pause = pauseMilliseconds
    this.#awaited = undefined
  }

  #giveUp(): void {
    this.#notBefore = this.#clock.now() + this.#pause
    this.#pause = Math.min(2 * this.#pause, pauseMillisecondsMax)
  }
}
