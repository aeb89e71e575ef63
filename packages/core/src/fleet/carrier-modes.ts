import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import { type Carrier, type CarrierMode, wrapCarrier } from '../dispatch/carrier.ts'

/** A carrier that is paused or drained, in all processes until somebody resumes it. */
export interface PausedCarrier {
  readonly carrier: CarrierId
  readonly mode: Exclude<CarrierMode, 'running'>
  readonly since: Instant
  /** Operator and machine that set the mode, for display. */
  readonly by: string
}

/** Wraps a carrier so that, while it is paused or drained, it answers every submission as temporarily refused. */
export function holdable(inner: Carrier): Carrier {
  let changed = (): void => undefined
  const isHeld = (): boolean => inner.mode() !== 'running'
  return wrapCarrier(inner, {
    submit(messages, answered) {
      if (!isHeld()) inner.submit(messages, answered)
      else void Promise.resolve(messages.map(({ id }) => ({ id, outcome: 'refused-for-now' as const }))).then(answered)
    },
    room: () => (isHeld() ? 0 : inner.room()),
    availability: () => (isHeld() ? 'down' : inner.availability()),
    onAvailability(listener) {
      changed = listener
      inner.onAvailability(listener)
    },
    setMode(next) {
      if (next === inner.mode()) return
      inner.setMode(next)
      changed()
    },
  })
}
