import type { ClaimedMessage, ProcessPlace } from './claimed-batches.ts'
import type { HandOver } from './claimable-queues.ts'

/** Settings of a dispatcher. The defaults suit one carrier link on a small machine. */
export interface DispatcherSettings {
  /**
   * Seconds without a renewed lease after which a dispatcher is declared dead. Its messages become SENT 106 within
   * twice this time (P-5 promises 90 s).
   */
  readonly leaseSeconds: number
  /**
   * Maximum number of messages that are marked and not recorded, which one kill or one lost connection can leave
   * unknown (P-6).
   */
  readonly inDoubtMax: number
  /** Number of messages per claim in the bulk lane, and maximum number per claim in the single lane. */
  readonly sliceMax: number
  /** Seconds after the due time at which a waiting message ends as expired (ruling 1.13). */
  readonly validitySeconds: number
  /** Seconds to wait after the first temporary refusal; doubles with each further refusal, up to `retrySecondsMax`. */
  readonly retrySeconds: number
  readonly retrySecondsMax: number
  /** Version of the program, shown to operators; undefined: not shown. */
  readonly version?: string | undefined
  /** Host and process id, shown to operators; undefined: not shown. */
  readonly place?: ProcessPlace | undefined
  /**
   * Seconds without progress after which work is reported as stalled, although it could proceed and the store answers
   * (P-17).
   */
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

/** Seconds that a message waits after a temporary refusal, if it was refused `attempt` times before. */
export const retryDelay = (settings: DispatcherSettings, attempt: number): number =>
  Math.min(settings.retrySeconds * 2 ** Math.min(attempt, 30), settings.retrySecondsMax)

/**
 * Returns when and in which queue a refused message is tried again. After its first refusal this is at once, if another
 * carrier of the route accepts it.
 */
export const retryOf = (
  settings: DispatcherSettings,
  { attempt }: Pick<ClaimedMessage, 'attempt'>,
  { queue, isTakenOver }: HandOver,
) => ({ seconds: isTakenOver && attempt === 0 ? 0 : retryDelay(settings, attempt), queue })
