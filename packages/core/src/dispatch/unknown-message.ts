import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'

/** A message, or a part of a message, for which its carrier reported an unknown outcome (106). */
export interface UnknownMessage {
  /** The carrier's own id of the message or part. */
  readonly reference: string
  readonly number: Msisdn
  /** Sender address; undefined: the carrier's own address. */
  readonly from: SenderAddress | undefined
}

/** Selection of messages for whose outcome a carrier may be asked. */
export interface WantedUnknown {
  /** Minimum seconds since the carrier's report. */
  readonly afterSeconds: number
  /** Maximum seconds since the carrier's report, and also maximum seconds since the message. */
  readonly withinSeconds: number
  readonly countMax: number
}

/**
 * Maximum age in seconds of a message of unknown outcome about which its carrier is asked. The carrier is asked once
 * for each message.
 */
export const unknownSecondsMax = 86_400
