import type { Metrics } from './metrics.ts'

/** Bounds the requests in flight in this process. The excess is refused before it costs anything (P-13). */
export interface AdmissionGate {
  /** Takes a place and returns the function that releases it (idempotent), or undefined if all are taken. */
  readonly tryEnter: () => (() => void) | undefined
  readonly inFlight: number
}

/** A gate with `inFlightMax` places. The caller releases its place in a `finally`. */
export const admissionGate = (inFlightMax: number): AdmissionGate => {
  let inFlight = 0
  const enter = () => {
    inFlight += 1
    let inside = true
    return () => {
      if (inside) inFlight -= 1
      inside = false
    }
  }
  return {
    tryEnter: () => (inFlight < inFlightMax ? enter() : undefined),
    get inFlight() {
      return inFlight
    },
  }
}

/** Reports how many places are taken: 0 when no request is processed. */
export const measureAdmission = (metrics: Metrics, gate: AdmissionGate): void =>
  metrics.gauge('gateway_requests_in_flight', 'Requests that hold a place', [], () => [
    { labels: {}, value: gate.inFlight },
  ])
