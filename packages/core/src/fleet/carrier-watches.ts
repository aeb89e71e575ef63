import type { CarrierId } from '../dispatch/carrier-id.ts'

/** Request of an operator to see the traffic of a carrier. */
export interface CarrierWatch {
  /** Id of this watch. */
  readonly id: string
  readonly carrier: CarrierId
  /**
   * If defined, the watch shows only requests that have this number as an address, and their responses. If undefined,
   * it shows all traffic.
   */
  readonly number: string | undefined
  /** True if the watch includes the texts of messages. */
  readonly hasText: boolean
}

/**
 * One request or response of a carrier in readable form: a PDU of SMPP, or the head and body of HTTP. Contains no
 * passwords, and no texts of messages unless requested.
 */
export interface ObservedTraffic {
  readonly direction: 'sent' | 'received'
  /** Role of the connection, such as `transceiver`; for HTTP `request` or `callback`. */
  readonly role: string
  /** Names and values. `command` names the kind, `sequence` relates a response to its request. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Receiver of the traffic of a carrier. */
export interface TrafficObserver extends Pick<CarrierWatch, 'number' | 'hasText'> {
  saw(traffic: ObservedTraffic): void
}

export interface WatchedTraffic extends ObservedTraffic {
  readonly watch: string
  /** Host of the process with the connection. */
  readonly host: string
  readonly pid: number
  /** Milliseconds since 1970. */
  readonly at: number
  /**
   * Number of requests and responses of the same process that were dropped before this one because there were too many.
   */
  readonly leftOut: number
}
