import type { Instant } from '../time/instant.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Carrier, CarrierMode, SubmissionAnswer } from '../dispatch/carrier.ts'

/** A carrier that is not to run. */
export interface HeldCarrier {
  readonly carrier: CarrierId
  readonly mode: Exclude<CarrierMode, 'running'>
  readonly since: Instant
  /** For operators: who, and where. */
  readonly by: string
}

/** Which carriers are paused or drained, in all processes, until somebody resumes them. */
export interface CarrierModes {
  /** Returns whether that is a change; what is not one changes nothing of what is listed. */
  set(carrier: CarrierId, mode: CarrierMode, by: string): Promise<boolean>
  /** By name. */
  list(): Promise<readonly HeldCarrier[]>
  /** Calls `changed` soon after a change, and perhaps for nothing. Some may be missed: ask now and then. */
  onChange(changed: () => void): void
}

/** A carrier that takes nothing while it is held: what is handed over all the same is refused for now. */
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
    onAvailability(told) {
      changed = told
      inner.onAvailability?.(told)
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
