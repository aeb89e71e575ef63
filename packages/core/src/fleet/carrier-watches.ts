import type { CarrierId } from '../dispatch/carrier-id.ts'

/** A request of an operator to see the PDUs of a carrier. */
export interface CarrierWatch {
  /** Id of this watch. */
  readonly id: string
  readonly carrier: CarrierId
  /** Restricts the watch to PDUs with this number as an address, and their responses; undefined: all PDUs. */
  readonly number: string | undefined
  /** True if the watch includes the texts of messages. */
  readonly hasText: boolean
}

/**
 * A PDU on a connection of a carrier in readable form, without passwords, and without texts of messages unless
 * requested.
 */
export interface ObservedPdu {
  readonly direction: 'sent' | 'received'
  readonly role: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Receiver of PDUs. */
export interface PduObserver extends Pick<CarrierWatch, 'number' | 'hasText'> {
  saw(pdu: ObservedPdu): void
}

export interface WatchedPdu extends ObservedPdu {
  readonly watch: string
  /** Host of the process with the connection. */
  readonly host: string
  readonly pid: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** Number of earlier PDUs of the same process that were dropped because there were too many. */
  readonly leftOut: number
}

/** Store of the watches of operators, and of the PDUs that processes with connections report for them. */
export interface CarrierWatches {
  /**
   * Starts a watch, or extends it by `seconds`, and notifies every process. Ended watches are removed together with
   * PDUs that were not read.
   */
  renew(watch: CarrierWatch, seconds: number): Promise<void>
  end(id: string): Promise<void>
  /** Lists watches that have not ended. */
  list(): Promise<readonly CarrierWatch[]>
  /** Stores PDUs for their watches, in this order; drops those of ended watches. */
  tell(pdus: readonly WatchedPdu[]): Promise<void>
  /** Removes and returns at most `countMax` PDUs of a watch, each once. */
  take(id: string, countMax: number): Promise<readonly WatchedPdu[]>
  /** Calls `changed` soon after a watch was started, extended or ended, and possibly without a change. */
  onChange(changed: () => void): void
}
