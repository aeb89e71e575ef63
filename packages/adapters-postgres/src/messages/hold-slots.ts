import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { holdSeconds, releaseHeld } from '../sql/held-sends.ts'
import type { Hold } from './sends.ts'

/** Milliseconds for which a free slot waits to be used again, before a statement of its own releases it. */
const reuseMilliseconds = 4
const retryMilliseconds = 200

/**
 * Slots of a process, which are its rows of `smpp_accept`. A statement that stores sends or parts with an
 * `AnswerDeadline` writes their ids into a slot. No process claims those sends or joins those parts until the slot is
 * released, so that they can be revoked if the deadline was missed.
 */
export class HoldSlots {
  readonly #context: Pick<Context, 'pools' | 'log'>
  readonly #process = randomUUID()
  readonly #free: { readonly slot: number; readonly timer: NodeJS.Timeout | undefined }[] = []
  #slots = 0

  constructor(context: Pick<Context, 'pools' | 'log'>) {
    this.#context = context
  }

  /** Returns a slot that no statement uses. Its next statement releases what the slot holds. */
  take(): Hold {
    const free = this.#free.pop()
    clearTimeout(free?.timer)
    return { process: this.#process, slot: free?.slot ?? ++this.#slots }
  }

  /**
   * Releases a slot: at once by the next statement that uses it, else by a statement of its own after some
   * milliseconds.
   */
  releaseSoon(hold: Hold): void {
    const timer = setTimeout(() => {
      const at = this.#free.findIndex(({ slot }) => slot === hold.slot)
      if (at >= 0) this.#free.splice(at, 1)
      void this.release(hold)
    }, reuseMilliseconds)
    this.#free.push({ slot: hold.slot, timer })
  }

  /** Releases a slot. Resolves to false if that failed for as long as the slot holds anything. */
  async release(hold: Hold): Promise<boolean> {
    const isReleased = await this.repeat('release accepted messages', async () => {
      await this.#context.pools.hot.run(releaseHeld, hold)
    })
    this.free(hold)
    return isReleased
  }

  /** Makes a slot free that a statement of the caller has released. */
  free(hold: Hold): void {
    this.#free.push({ slot: hold.slot, timer: undefined })
  }

  /** Repeats `work` until it succeeds, for as long as a slot holds. Returns false and logs if it did not succeed. */
  async repeat(name: string, work: () => Promise<void>): Promise<boolean> {
    const end = performance.now() + holdSeconds * 1000
    for (;;) {
      try {
        await work()
        return true
      } catch (problem) {
        if (performance.now() > end) {
          this.#context.log.warn(`could not ${name}: ${String(problem)}`)
          return false
        }
        if (!isLostAnswer(problem)) await delay(retryMilliseconds, undefined, { ref: false })
      }
    }
  }
}
