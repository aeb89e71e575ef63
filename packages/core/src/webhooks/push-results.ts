import type { Instant } from '../time/instant.ts'
import type { ClaimedList, PushResult, Webhooks } from './webhooks.ts'

const soonMilliseconds = 10_000
/** Resolution at which times of the next attempts are remembered, so that at most a hundred of them are stored. */
const stepMilliseconds = 100

/**
 * Buffer of push results until they are stored. An entry waits, is being stored, and is then removed; if storing fails,
 * it waits again before all others.
 */
export class PushResults {
  readonly #webhooks: Pick<Webhooks, 'record' | 'release'>
  #results: PushResult[] = []
  /** Claimed lists that were not tried and are to be released. */
  #untried: ClaimedList[] = []
  #storing: Promise<void> | undefined
  #storingCount = 0
  #hasFailed = false
  /** Times of the next attempts, in steps. */
  readonly #retries = new Set<number>()

  constructor(webhooks: Pick<Webhooks, 'record' | 'release'>) {
    this.#webhooks = webhooks
  }

  keep(result: PushResult): void {
    this.#results.push(result)
    const { next, at } = result
    if (next !== undefined && next - at <= soonMilliseconds) this.#retries.add(Math.ceil(next / stepMilliseconds) + 1)
  }

  /** Adds claimed lists that were not tried and are to be released. */
  giveBack(lists: readonly ClaimedList[]): void {
    this.#untried.push(...lists)
  }

  /** Number of entries that are not stored, including those being stored. */
  get count(): number {
    return this.#waiting + this.#storingCount
  }

  /** Returns true if at least `atLeast` entries wait and no statement is under way. */
  isFull(atLeast: number): boolean {
    return this.#storing === undefined && this.#waiting >= atLeast
  }

  /** True if the last statement failed. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /**
   * Stores the entries if there are at least `atLeast`. If that fails, they stay and the next call stores them. Only
   * one statement runs at a time. The call does not wait for results that arrive meanwhile, because new ones may keep
   * arriving.
   */
  async store(atLeast: number): Promise<void> {
    await this.#storing
    if (this.#waiting >= atLeast) this.#storing ??= this.#storeOnce().finally(() => (this.#storing = undefined))
    await this.#storing
  }

  /** Returns the milliseconds until a failed list is due again, or infinity if none is due within ten seconds. */
  nextMilliseconds(now: Instant): number {
    for (const step of this.#retries) if (step * stepMilliseconds <= now) this.#retries.delete(step)
    return Math.min(Infinity, ...[...this.#retries].map((step) => step * stepMilliseconds - now))
  }

  get #waiting(): number {
    return this.#results.length + this.#untried.length
  }

  async #storeOnce(): Promise<void> {
    const [finished, released] = [this.#results, this.#untried]
    this.#results = []
    this.#untried = []
    this.#storingCount = finished.length + released.length
    try {
      await Promise.all([this.#webhooks.record(finished), this.#webhooks.release(released)])
      this.#hasFailed = false
    } catch (problem) {
      this.#hasFailed = true
      this.#results.unshift(...finished)
      this.#untried.unshift(...released)
      throw problem
    } finally {
      this.#storingCount = 0
    }
  }
}
