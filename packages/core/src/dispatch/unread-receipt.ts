import type { Brand } from '../brand.ts'
import type { Msisdn } from '../messages/msisdn.ts'
import type { Instant } from '../time/instant.ts'
import type { CarrierId } from './carrier-id.ts'

/**
 * Delivery from a carrier that the gateway could not parse (P-21), with the fields that the gateway could read. It is a
 * delivery receipt, an inbound binary message (sent from a phone), or an unrecognized PDU.
 */
export interface UnreadReceipt {
  readonly carrier: CarrierId
  /** The carrier's own id of the message; undefined if none was found. */
  readonly reference: string | undefined
  /** Recipient of the message, if known. For an inbound message, the sender. */
  readonly number: Msisdn | undefined
  /** Text without NUL characters; for an inbound message, its data in hexadecimal. */
  readonly text: string
  /** The whole PDU in hexadecimal. */
  readonly pdu: string
  /** True for an inbound message. */
  readonly isMessage: boolean
}

/** Kinds of unread deliveries. */
export type UnreadKind = 'receipt' | 'binary' | 'pdu'

/** Returns the kind of an unread delivery: 'pdu' if neither an id nor a text was found in it. */
export function unreadKindOf({
  isMessage,
  reference,
  text,
}: Pick<UnreadReceipt, 'isMessage' | 'reference' | 'text'>): UnreadKind {
  if (isMessage) return 'binary'
  return reference === undefined && text === '' ? 'pdu' : 'receipt'
}

/** Id of a stored delivery. Later deliveries have higher ids. */
export type UnreadReceiptId = Brand<number, 'UnreadReceiptId'>

export interface StoredUnreadReceipt extends UnreadReceipt {
  readonly id: UnreadReceiptId
  readonly at: Instant
}

export const unreadReceiptBounds = {
  /** Maximum number of stored deliveries over all carriers; the oldest are dropped. */
  countMax: 10_000,
  /** Maximum days for which a delivery is stored. */
  days: 30,
} as const

/** Selection of unread deliveries. */
export interface UnreadReceiptFilter {
  /** Carrier to search; undefined for all carriers. */
  readonly carrier?: CarrierId | undefined
  /** If undefined, from the beginning. */
  readonly since?: Instant | undefined
}
