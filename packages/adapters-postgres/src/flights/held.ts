import type { DispatcherId, FlightId } from '@gateway/core'

/** What this process knows of a flight that it claimed. */
export interface HeldFlight {
  /** The carrier's number. */
  readonly carrier: number
  /** The ids that were not recorded, settled or postponed yet. */
  readonly ids: Set<number>
}

/** The flights of this process's dispatchers. The database decides; this only saves it questions. */
export interface Held {
  add(dispatcher: DispatcherId, flight: FlightId, held: HeldFlight): void
  get(dispatcher: DispatcherId, flight: FlightId): HeldFlight | undefined
  drop(dispatcher: DispatcherId, flight: FlightId): void
  dropAll(dispatcher: DispatcherId): void
}

export function createHeld(): Held {
  const dispatchers = new Map<DispatcherId, Map<FlightId, HeldFlight>>()
  return {
    add: (dispatcher, flight, held) => {
      const flights = dispatchers.get(dispatcher) ?? new Map<FlightId, HeldFlight>()
      dispatchers.set(dispatcher, flights.set(flight, held))
    },
    get: (dispatcher, flight) => dispatchers.get(dispatcher)?.get(flight),
    drop: (dispatcher, flight) => void dispatchers.get(dispatcher)?.delete(flight),
    dropAll: (dispatcher) => void dispatchers.delete(dispatcher),
  }
}
