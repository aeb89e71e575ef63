import { COMMAND_ID, headerOctets } from './constants.ts'
import { bodyOctetsMax, encodeBody, putInteger, putTlvs, tlvOctets, type Sink } from './encode-pdu.ts'
import type { Pdu } from './pdu.ts'

/** Encodes PDUs one behind the other, so that many leave in one write. */
export interface PduWriter {
  /** Octets that `take` would give. */
  readonly length: number
  /** The buffer that the last PDU was written to, and its end there. Those octets are not written to again. */
  readonly bytes: Buffer
  readonly end: number
  /**
   * Returns how many octets it has. Throws a RangeError, and leaves what was written before, if a field does not fit
   * its place.
   */
  write(pdu: Pdu): number
  /** What was written since the last call, in a buffer that is not used again. */
  take(): Buffer
}

const blockOctets = 1 << 16

/** Takes buffers of at least `octets` octets, one after the other. */
export function pduWriter(octets = blockOctets): PduWriter {
  const sink: Sink = { buffer: Buffer.allocUnsafeSlow(octets), at: 0 }
  let taken = 0

  /** What was not taken moves to the next buffer. */
  function grow(needed: number): void {
    const waiting = sink.at - taken
    const next = Buffer.allocUnsafeSlow(Math.max(octets, 2 * (waiting + needed)))
    sink.buffer.copy(next, 0, taken, sink.at)
    sink.buffer = next
    sink.at = waiting
    taken = 0
  }

  return {
    get length() {
      return sink.at - taken
    },
    get bytes() {
      return sink.buffer
    },
    get end() {
      return sink.at
    },
    write(pdu) {
      const needed = headerOctets + bodyOctetsMax(pdu) + (pdu.tlvs.length === 0 ? 0 : tlvOctets(pdu.tlvs))
      if (sink.at + needed > sink.buffer.length) grow(needed)
      const start = sink.at
      try {
        encode(sink, pdu)
      } catch (error) {
        sink.at = start
        throw error
      }
      return sink.at - start
    },
    take() {
      const bytes = sink.buffer.subarray(taken, sink.at)
      taken = sink.at
      return bytes
    },
  }
}

function encode(to: Sink, pdu: Pdu): void {
  const start = to.at
  to.at += 4
  putInteger(to, COMMAND_ID[pdu.command])
  putInteger(to, pdu.status)
  putInteger(to, pdu.sequence)
  encodeBody(to, pdu)
  if (pdu.tlvs.length > 0) putTlvs(to, pdu.tlvs)
  const end = to.at
  to.at = start
  putInteger(to, end - start)
  to.at = end
}

/** One PDU. Throws as `PduWriter.write` does. */
export function encodePdu(pdu: Pdu): Buffer {
  const writer = pduWriter(1024)
  writer.write(pdu)
  return writer.take()
}
