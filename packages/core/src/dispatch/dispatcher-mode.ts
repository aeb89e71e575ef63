import type { Work } from './stall.ts'

/**
 * Mode of a dispatcher. Only the dispatcher's `#setMode` changes the mode, and only as the last column allows.
 *
 * | mode     | claims | marks | submits         | stores outcomes | lease            | next             |
 * | -------- | ------ | ----- | --------------- | --------------- | ---------------- | ---------------- |
 * | working  | yes    | yes   | marked messages | yes             | renewed          | draining, broken |
 * | draining | no     | no    | marked messages | yes             | renewed          | ended, broken    |
 * | broken   | no     | no    | nothing         | yes             | given up at once | ended            |
 * | ended    | no     | no    | nothing         | late ones only  | given up         | none             |
 *
 * Broken: an invariant was violated, which is reported. Unmarked messages are claimed by other dispatchers; marked
 * messages end as SENT 106 unless their answer still arrives.
 */
export type Mode = 'working' | 'draining' | 'broken' | 'ended'

export const nextModes: Readonly<Record<Mode, readonly Mode[]>> = {
  working: ['draining', 'broken'],
  draining: ['ended', 'broken'],
  broken: ['ended'],
  ended: [],
}

export const maySubmit = (mode: Mode): boolean => mode === 'working' || mode === 'draining'

/** Counts of the messages that a dispatcher holds at one moment. `inDoubt` never exceeds the setting `inDoubtMax`. */
export interface DispatcherState {
  readonly mode: Mode
  /** Messages claimed and not submitted. */
  readonly ahead: number
  readonly unanswered: number
  readonly inDoubt: number
  readonly uncommitted: number
  /** Kinds of work without progress although the store answers (P-17), as of the last call of `retry`. */
  readonly stalled: readonly Work[]
}
