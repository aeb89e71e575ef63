import type { Arrival } from '@gateway/core'
import { keyOf } from './digests.ts'

/** An arrival in its place, under the key that it is noted by. */
export interface Keyed {
  readonly arrival: Arrival
  readonly key: string
}

/**
 * Keys of arrivals whose call failed, of which some may be stored all the same: whoever hands over the same objects again, as carriers do
 * that try again, stores none of them twice.
 */
export function rememberedKeys() {
  const failed = new WeakMap<Arrival, string[]>()
  return {
    take: (arrivals: readonly Arrival[]): readonly Keyed[] =>
      arrivals.map((arrival) => ({ arrival, key: failed.get(arrival)?.shift() ?? keyOf(arrival) })),
    keep: (items: readonly Keyed[]): void => {
      for (const { arrival, key } of items) failed.set(arrival, [...(failed.get(arrival) ?? []), key])
    },
  }
}
