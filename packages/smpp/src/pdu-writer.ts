import { COMMAND_ID, headerOctets } from './constants.ts'
import { bodyOctetsMax, encodeBody } from './encode-pdu.ts'
import type { Pdu } from './pdu.ts'
import { putInteger, putTlvs, tlvOctets, type Sink } from './sink.ts'

/** Encodes PDUs one after another into one buffer, so that many are sent with one write. */
export interface PduWriter {
  /** Number of octets that `take` would return. */
  readonly length: number
  /** Buffer that contains the last PDU, and the end of that PDU in it. Written octets never change. */
  readonly bytes: Buffer
  readonly end: number
  /**
   * Encodes one PDU and returns its length in octets. Throws a RangeError if a value does not fit its field; earlier
   * PDUs stay written.
   */
  write(pdu: Pdu): number
  /** Returns the octets written since the last call. They never change afterwards. */
  take(): Buffer
}

const blockOctets = 1 << 16

/** Creates a writer that allocates buffers of at least `octets` octets. */
export function pduWriter(octets = blockOctets): PduWriter {
  const sink: Sink = { buffer: Buffer.allocUnsafeSlow(octets), at: 0 }
  let start = 0

  /** Allocates the next buffer and copies the octets to it that `take` has not returned yet. */
  function grow(needed: number): void {
    const waiting = sink.at - start
    const next = Buffer.allocUnsafeSlow(Math.max(octets, 2 * (waiting + needed)))
    sink.buffer.copy(next, 0, start, sink.at)
    sink.buffer = next
    sink.at = waiting
    start = 0
  }

  return {
    get length() {
      return sink.at - start
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
      const before = sink.at
      try {
        encode(sink, pdu)
      } catch (error) {
        sink.at = before
        throw error
      }
      return sink.at - before
    },
    take() {
      const bytes = sink.buffer.subarray(start, sink.at)
      start = sink.at
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

/** Encodes one PDU. Throws as `PduWriter.write` does. */
export function encodePdu(pdu: Pdu): Buffer {
  const writer = pduWriter(1024)
  writer.write(pdu)
  return writer.take()
}
