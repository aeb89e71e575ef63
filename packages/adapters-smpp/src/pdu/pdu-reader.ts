import type { ReceivedPdu } from './received-pdu.ts'

/** Finds the PDUs in a stream of bytes. */
export interface PduReader {
  /**
   * The PDUs that are complete with this chunk, in order. Never throws. After a malformed one with `endsSession` nothing is read any
   * more. Buffers in PDUs are views of the chunk: copy what is kept for long.
   */
  read(chunk: Buffer): readonly ReceivedPdu[]
}
