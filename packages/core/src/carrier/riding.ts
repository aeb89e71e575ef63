import type { Aloft } from './aloft.ts'
import type { DispatcherId, Mark } from './claimed-batches.ts'

/** Marks that are committed with the outcomes that make room for them, in one commit instead of two. */
export interface Riding {
  has(aloft: Aloft): boolean
  /** Marked messages that are counted beside the outcomes which they replace: never are both in doubt. */
  covered(): number
  /**
   * The marks that go with a record of this dispatcher which ends the doubt of `freed` messages. Those that rode with a record that failed ride again, since
   * they may have been committed: then no others do, and they cover no more than they did then.
   */
  board(dispatcher: DispatcherId, freed: number, choose: () => readonly Aloft[]): readonly Mark[]
  /** The record was committed, or its dispatcher is no longer ours; returns what rode. */
  alight(dispatcher: DispatcherId): readonly Aloft[]
}

export function createRiding(): Riding {
  let owner: DispatcherId | undefined
  let room = 0
  let riders: readonly Aloft[] = []
  return {
    has: (aloft) => riders.includes(aloft),
    covered: () =>
      Math.min(
        room,
        riders.reduce((sum, { fenced, marking, marked }) => sum + (fenced ? 0 : marking - marked), 0),
      ),
    board(dispatcher, freed, choose) {
      if (riders.length > 0 && owner !== dispatcher) return []
      if (riders.length === 0) {
        owner = dispatcher
        room = freed
        riders = choose()
      }
      return riders.filter(({ fenced }) => !fenced).map(({ batch, marking }) => ({ batch, upTo: marking }))
    },
    alight(dispatcher) {
      if (owner !== dispatcher) return []
      const all = riders
      riders = []
      room = 0
      return all
    },
  }
}
