import { CircuitBreaker, type CircuitBounds, type CircuitListener } from '@gateway/core/dispatch'

/** Circuit breaker of a carrier with the timer that ends its pauses. */
export interface TimedCircuit {
  readonly breaker: CircuitBreaker
  /** Returns the time when the circuit entered its state, by the clock that operators see. */
  since(): number
  stop(): void
}

/** Time between two looks at a half-open circuit. */
const halfOpenMilliseconds = 1000

/** Creates the circuit breaker of a carrier. `changed` is called at the end of the current turn of the event loop. */
export function createCircuit(
  bounds: CircuitBounds,
  { changed, opened, closed }: Omit<CircuitListener, 'turned'>,
  clock: { now(): number },
): TimedCircuit {
  let turnedAt = clock.now()
  let timer: NodeJS.Timeout | undefined

  function plan(): void {
    clearTimeout(timer)
    if (breaker.state === 'closed') return
    const wait = breaker.state === 'open' ? Math.ceil(breaker.pauseLeft(performance.now())) + 1 : halfOpenMilliseconds
    timer = setTimeout(() => {
      breaker.look(performance.now())
      plan()
    }, wait)
  }

  const breaker: CircuitBreaker = new CircuitBreaker(bounds, performance.now(), {
    changed: () => queueMicrotask(changed),
    turned() {
      turnedAt = clock.now()
      plan()
    },
    opened,
    closed,
  })
  return { breaker, since: () => turnedAt, stop: () => clearTimeout(timer) }
}
