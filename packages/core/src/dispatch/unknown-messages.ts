import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { CarrierId } from './carrier-id.ts'

/** A message, or a part of one, of which its carrier said that it does not know what became of it (106). */
export interface UnknownMessage {
  /** The carrier's own id of it. */
  readonly reference: string
  readonly number: Msisdn
  /** What it left from; undefined: the carrier's own address. */
  readonly from: SenderAddress | undefined
}

/** Whose outcome a carrier may be asked for. */
export interface WantedUnknown {
  /** The carrier said so at least so long ago. */
  readonly afterSeconds: number
  /** Both that and the message are younger. */
  readonly withinSeconds: number
  readonly countMax: number
}

/** A carrier that calls a message unknown may know better later: it is asked once. */
export const unknownSecondsMax = 86_400

/** Messages of unknown outcome whose carrier can be asked for them, since it gave them a reference. */
export interface UnknownMessages {
  /**
   * Receipts with these references said so. Once it has resolved, nothing is lost by a crash; what is known already
   * stays as it is.
   */
  keep(carrier: CarrierId, references: readonly string[]): Promise<void>
  /** The oldest first, of those that are still unknown. Each is returned once, to one caller, for ever. */
  take(carrier: CarrierId, wanted: WantedUnknown): Promise<readonly UnknownMessage[]>
}
