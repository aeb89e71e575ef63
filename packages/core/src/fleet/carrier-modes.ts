import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Carrier, CarrierMode, SubmissionAnswer } from '../dispatch/carrier.ts'

/** A carrier that is paused or drained. */
export interface HeldCarrier {
  readonly carrier: CarrierId
  readonly mode: Exclude<CarrierMode, 'running'>
  readonly since: Instant
  /** Operator and machine that set the mode, for display. */
  readonly by: string
}

/** Store of the carriers that are paused or drained in all processes until somebody resumes them. */
export interface CarrierModes {
  /** Sets the mode. Returns false, without any effect on `list`, if the carrier had this mode already. */
  set(carrier: CarrierId, mode: CarrierMode, by: string): Promise<boolean>
  /** Lists paused and drained carriers by name. */
  list(): Promise<readonly HeldCarrier[]>
  /** Calls `changed` soon after a change, and possibly without one. Calls may be missed, so poll as well. */
  onChange(changed: () => void): void
}

/** A carrier that can be paused or drained. It then answers every submission as refused for now. */
export interface HoldableCarrier {
  readonly carrier: Carrier
  mode(): CarrierMode
  setMode(mode: CarrierMode): void
}

export function holdable(inner: Carrier): HoldableCarrier {
  let mode: CarrierMode = 'running'
  let unanswered = 0
  let changed = (): void => undefined
  const isHeld = (): boolean => mode !== 'running'

  const carrier: Carrier = {
    id: inner.id,
    window: inner.window,
    room: () => (isHeld() ? 0 : (inner.room?.() ?? inner.window - unanswered)),
    handBack: () => inner.handBack?.(),
    submit(messages, answered) {
      const count = (answers: readonly SubmissionAnswer[]): void => {
        unanswered -= answers.length
        answered(answers)
      }
      unanswered += messages.length
      if (!isHeld()) inner.submit(messages, count)
      else void Promise.resolve(messages.map(({ id }) => ({ id, outcome: 'refused-for-now' as const }))).then(count)
    },
    listen: (handlers) => inner.listen(handlers),
    close: (deadline) => inner.close(deadline),
    availability: () => (isHeld() ? 'down' : (inner.availability?.() ?? 'available')),
    isHeld,
    onAvailability(listener) {
      changed = listener
      inner.onAvailability?.(listener)
    },
    ...(inner.responseTime && { responseTime: inner.responseTime }),
    ...(inner.observe && { observe: inner.observe }),
    ...(inner.status && { status: inner.status }),
  }

  return {
    carrier,
    mode: () => mode,
    setMode(next) {
      if (next === mode) return
      mode = next
      inner.setMode?.(next)
      changed()
    },
  }
}
