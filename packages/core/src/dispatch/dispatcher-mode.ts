import type { Work } from './stall.ts'

/**
 * What a dispatcher does in each of its modes. Only `setMode` of the dispatcher changes it, and only along this table.
 *
 * | mode     | claims | marks | submits        | stores outcomes     | its lease  | next          |
 * | -------- | ------ | ----- | -------------- | ------------------- | ---------- | ------------- |
 * | working  | yes    | yes   | what is marked | yes                 | is renewed | draining, broken |
 * | draining | no     | no    | what is marked | yes                 | is renewed | ended, broken |
 * | broken   | no     | no    | nothing        | yes                 | is given up at once | ended |
 * | ended    | no     | no    | nothing        | those that come late| is given up | none         |
 *
 * broken: an invariant does not hold, which is reported. What was not marked is claimed by others, what was is SENT 106
 * unless its answer still comes.
 */
export type Mode = 'working' | 'draining' | 'broken' | 'ended'

export const nextModes: Readonly<Record<Mode, readonly Mode[]>> = {
  working: ['draining', 'broken'],
  draining: ['ended', 'broken'],
  broken: ['ended'],
  ended: [],
}

export const maySubmit = (mode: Mode): boolean => mode === 'working' || mode === 'draining'

/** What a dispatcher holds at one moment. `inDoubt` never exceeds the setting. */
export interface DispatcherState {
  readonly mode: Mode
  /** Claimed and not submitted. */
  readonly ahead: number
  readonly unanswered: number
  readonly inDoubt: number
  readonly uncommitted: number
  /** What makes no progress while the store answers (P-17), as of the last call of `retry`. */
  readonly stalled: readonly Work[]
}
