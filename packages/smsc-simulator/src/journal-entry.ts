import type { ReceivedPdu } from '@gateway/adapters-smpp/pdu'

/** One PDU, or what happened to a link. */
export interface JournalEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Counts the links of this run from 1. */
  readonly link: number
  readonly systemId: string
  readonly event: 'received' | 'sent' | 'opened' | 'closed'
  readonly pdu?: ReceivedPdu
  /** Sent with this command_length instead of the right one. */
  readonly wrongLength?: number
}

/** A PDU with its octets, which are not written to again. */
export interface PduEntry extends Required<Omit<JournalEntry, 'wrongLength'>> {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}
