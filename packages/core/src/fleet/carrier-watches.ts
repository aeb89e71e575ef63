import type { CarrierId } from '../dispatch/carrier-id.ts'

/** Somebody looks at the PDUs of a carrier. */
export interface CarrierWatch {
  /** Of this look, and of no other. */
  readonly id: string
  readonly carrier: CarrierId
  /** Only what has this number as one of its addresses, and the answers to it; undefined: everything. */
  readonly number: string | undefined
  /** Also the texts of messages. */
  readonly hasText: boolean
}

/**
 * A PDU of a connection of a carrier, as people read it: no password, and no text of a message where it was not asked
 * for.
 */
export interface ObservedPdu {
  readonly direction: 'sent' | 'received'
  readonly role: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Is told of PDUs. */
export interface PduObserver extends Pick<CarrierWatch, 'number' | 'hasText'> {
  saw(pdu: ObservedPdu): void
}

export interface WatchedPdu extends ObservedPdu {
  readonly watch: string
  /** The process of the connection. */
  readonly host: string
  readonly pid: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** So many before it, of the same process, were too many to be told. */
  readonly leftOut: number
}

/** What operators watch, and what the processes with the connections tell them. */
export interface CarrierWatches {
  /**
   * Begins a watch, or lets it go on for so many seconds; every process is told. What is over ends, with what nobody
   * took.
   */
  renew(watch: CarrierWatch, seconds: number): Promise<void>
  end(id: string): Promise<void>
  /** Those that are not over. */
  list(): Promise<readonly CarrierWatch[]>
  /** For whoever watches, in this order; what is of no watch any more is dropped. */
  tell(pdus: readonly WatchedPdu[]): Promise<void>
  /** Up to so many that were told of a watch, each once. */
  take(id: string, countMax: number): Promise<readonly WatchedPdu[]>
  /** Calls `changed` soon after a watch has begun, goes on or ends, and perhaps for nothing. */
  onChange(changed: () => void): void
}
