import type { CarrierBinds } from './carrier-binds.ts'
import type { CarrierRates } from './carrier-rates.ts'

/** Ports of the store through which processes share the binds and the rate of a carrier. */
export interface CarrierSharePorts {
  readonly carrierBinds: CarrierBinds
  readonly carrierRates: CarrierRates
}
