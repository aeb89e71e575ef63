import type { ClaimedMessage, ProcessPlace } from './claimed-batches.ts'
import type { HandOver } from './route-turns.ts'

/** How a dispatcher works. Every number has a default that suits one carrier link on a small machine. */
export interface DispatcherSettings {
  /**
   * A dispatcher that has not been heard of for so long is declared dead. 106 appears within twice this time (P-5: 90
   * s).
   */
  readonly leaseSeconds: number
  /** At most so many messages are marked and not recorded: what one kill or lost connection can leave unknown (P-6). */
  readonly inDoubtMax: number
  /** Messages of one claim in the bulk lane, and the most of one in the single lane. */
  readonly sliceMax: number
  /** Counted from the due time; past it a waiting message ends as expired (ruling 1.13). */
  readonly validitySeconds: number
  /** The wait after the first refusal for now; it doubles with each further one, up to `retrySecondsMax`. */
  readonly retrySeconds: number
  readonly retrySecondsMax: number
  /** Of the program that dispatches, as operators are to see it; undefined: not told. */
  readonly version?: string | undefined
  /** Where it runs, for the operator. */
  readonly place?: ProcessPlace | undefined
  /** Work that could move and has not moved for so long, while the store answers, is told as no progress (P-17). */
  readonly stallSeconds: number
}

export const dispatcherDefaults: DispatcherSettings = {
  leaseSeconds: 30,
  inDoubtMax: 200,
  sliceMax: 500,
  validitySeconds: 48 * 3600,
  retrySeconds: 2,
  retrySecondsMax: 300,
  stallSeconds: 10,
}

/** How long a message waits that was refused for now, `attempt` times before this one. */
export const retryDelay = (settings: DispatcherSettings, attempt: number): number =>
  Math.min(settings.retrySeconds * 2 ** Math.min(attempt, 30), settings.retrySecondsMax)

/** When and where it is tried again: at the first time at once by another carrier of its route, if there is one. */
export const retryOf = (
  settings: DispatcherSettings,
  { attempt }: Pick<ClaimedMessage, 'attempt'>,
  { queue, isTakenOver }: HandOver,
) => ({ seconds: isTakenOver && attempt === 0 ? 0 : retryDelay(settings, attempt), queue })
