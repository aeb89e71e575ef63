import type { Metrics } from './metrics.ts'

/** Counts what is in flight in this process and refuses the excess early, before it costs anything (P-13). */
export interface AdmissionGate {
  /** A place, as the function that gives it back (calling it again does nothing), or undefined: the process is full. */
  readonly tryEnter: () => (() => void) | undefined
  readonly inFlight: number
}

/** A gate with `inFlightMax` places. Whoever enters leaves in a `finally`. */
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

/** Shows how many places are taken: 0 when nothing is being worked on, whatever became of the clients. */
export const measureAdmission = (metrics: Metrics, gate: AdmissionGate): void =>
  metrics.gauge('gateway_requests_in_flight', 'Requests that hold a place', [], () => [
    { labels: {}, value: gate.inFlight },
  ])
