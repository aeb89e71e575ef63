import type { Clock } from '../time/instant.ts'

/** Calls `call` after this many milliseconds, or never if its purpose has ended. */
export type Later = (milliseconds: number, call: () => void) => void

/** Answers that may arrive soon: of outstanding submissions, and of marked messages about to be submitted. */
export interface Coming {
  readonly unanswered: number
  readonly leaving: number
}

/**
 * Maximum milliseconds that answers wait, including marks and round trips. With a carrier that answers at once, waiting
 * makes batches grow from 75 to 113 messages; with a window of 50, from 49 to 150–175. On a busy machine 8 ms were too
 * short.
 */
const gatherMilliseconds = 25
/** Milliseconds for which answers do not wait after a wait in vain. Doubles with each further wait in vain. */
const pauseMilliseconds = 25
const pauseMillisecondsMax = 1000

/**
 * Returns the number of further answers to wait for. Returns 0 once everything has been submitted, because the answers
 * of a slow, steady stream of messages would otherwise always wait for the next ones.
 */
const further = ({ unanswered, leaving }: Coming): number => (leaving === 0 ? 0 : unanswered + leaving)

/** Progress of one wait for further answers. */
interface Awaited {
  /** Number of expected answers that have not arrived yet. */
  count: number
  /** True once all answers that were expected at the start of the wait have arrived. */
  isMet: boolean
}

/**
 * Lets a carrier's answers wait for further answers that arrive within a moment, so that one commit stores them all.
 *
 *   none wait --isWorthIt, more are expected--> waiting --as many arrived, or 25 ms passed--> ended --> none wait
 *
 * After a wait in vain, answers are stored without waiting for some time, which doubles with each further wait in vain.
 * Without `later` answers never wait.
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

  /** Records that the carrier answered `count` messages. */
  answered(count: number): void {
    if (this.#awaited === undefined) return
    this.#awaited.count -= count
    if (this.#awaited.count <= 0) this.#awaited.isMet = true
  }

  /**
   * Returns true if the waiting answers should wait for more answers. The first call determines the number of answers
   * to wait for. Once they have arrived, a new number is determined as long as more messages may be submitted. `over`
   * is called if the answers should be stored because the time is over.
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
