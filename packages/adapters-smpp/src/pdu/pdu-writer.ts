import type { Pdu } from './pdu.ts'

/** Encodes PDUs one behind the other, so that many leave in one write. */
export interface PduWriter {
  /** Octets that `take` would give. */
  readonly length: number
  /** Throws a RangeError, and leaves what was written before, if a field does not fit its place in the standard. */
  write(pdu: Pdu): void
  /** What was written since the last call, in a buffer that is not used again. */
  take(): Buffer
}
