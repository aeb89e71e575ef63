import type { Pdu } from './pdu.ts'

/** Why bytes are no PDU. After the first two the limits of the next PDU are unknown and the session must end. */
export type MalformedReason =
  | 'command-length-too-small'
  | 'command-length-too-large'
  | 'body-too-short'
  | 'string-unterminated'
  | 'string-too-long'
  | 'message-too-long'
  | 'tlv-too-long'
  | 'destination-flag'

/** Bytes that are no PDU. */
export interface MalformedPdu {
  readonly command: 'malformed'
  readonly reason: MalformedReason
  /** The header as received; 0 for what had not come when the length was found wrong. */
  readonly commandId: number
  readonly status: number
  readonly sequence: number
  /** The command_status that answers it, in a response or a generic_nack. */
  readonly answerStatus: number
  /** Nothing can be read after it: answer generic_nack and close. */
  readonly endsSession: boolean
  /** What was received of it; when its length is wrong, at most a header. */
  readonly bytes: Buffer
}

/** A well-framed PDU with a command_id that SMPP 3.4 does not have: answer generic_nack with ESME_RINVCMDID. */
export interface UnknownPdu {
  readonly command: 'unknown'
  readonly commandId: number
  readonly status: number
  readonly sequence: number
  readonly body: Buffer
}

export type ReceivedPdu = Pdu | UnknownPdu | MalformedPdu
