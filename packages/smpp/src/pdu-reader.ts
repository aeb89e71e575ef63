import { decodePdu, malformed } from './decode-pdu.ts'
import { headerOctets } from './constants.ts'
import type { ReceivedPdu } from './pdu.ts'

/** Finds the PDUs in a stream of bytes. */
export interface PduReader {
  /**
   * Returns the PDUs that this chunk completes, in order. Never throws. Reads nothing after a malformed PDU with
   * `endsSession`. Buffers in the PDUs are views of the chunk, so copy them to keep them for long.
   */
  read(chunk: Buffer): readonly ReceivedPdu[]
  /**
   * Calls `take` with each completed PDU and the octets that it was read from. Those octets never change. If `skip` is
   * passed, it is called before with the command_id and the sequence_number; if it returns true, the PDU is not decoded
   * and `take` is not called.
   */
  each(
    chunk: Buffer,
    take: (pdu: ReceivedPdu, bytes: Buffer, start: number, end: number) => void,
    skip?: (commandId: number, sequence: number) => boolean,
  ): void
}

/** Maximum command_length, enough for a message_payload of 65535 octets together with every other field. */
const commandLengthMaxDefault = 69_632

/**
 * Creates a reader. It buffers at most `commandLengthMax` octets of an incomplete PDU, and never more than twice the
 * octets received.
 */
export function pduReader(commandLengthMax = commandLengthMaxDefault): PduReader {
  let buffered: Buffer = Buffer.alloc(0)
  let bufferedLength = 0
  let hasEnded = false

  /** Appends a chunk and returns the buffered octets. */
  function append(chunk: Buffer): Buffer {
    const length = bufferedLength + chunk.length
    if (length > buffered.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * bufferedLength))
      buffered.copy(grown, 0, 0, bufferedLength)
      buffered = grown
    }
    chunk.copy(buffered, bufferedLength)
    bufferedLength = length
    return buffered.subarray(0, length)
  }

  /** Buffers the rest of a chunk. Copies the octets, because PDUs hold views of the chunk. */
  function hold(rest: Buffer): void {
    buffered = rest.length === 0 ? rest : Buffer.from(rest)
    bufferedLength = rest.length
  }

  function each(...[chunk, take, skip]: Parameters<PduReader['each']>): void {
    if (hasEnded) return
    const isAppended = bufferedLength > 0
    const bytes = isAppended ? append(chunk) : chunk
    let at = 0
    while (!hasEnded && bytes.length - at >= 4) {
      const length = bytes.readUInt32BE(at)
      if (length < headerOctets || length > commandLengthMax) {
        const reason = length < headerOctets ? 'command-length-too-small' : 'command-length-too-large'
        const end = Math.min(at + headerOctets, bytes.length)
        hasEnded = true
        take(malformed(bytes, at, end, reason), bytes, at, end)
      } else if (bytes.length - at < length) break
      else {
        const start = at
        at += length
        if (skip?.(bytes.readUInt32BE(start + 4), bytes.readUInt32BE(start + 12)) === true) continue
        take(decodePdu(bytes, start, at), bytes, start, at)
      }
    }
    if (hasEnded) hold(bytes.subarray(0, 0))
    else if (at > 0 || !isAppended) hold(bytes.subarray(at))
  }

  return {
    read(chunk) {
      const pdus: ReceivedPdu[] = []
      each(chunk, (pdu) => void pdus.push(pdu))
      return pdus
    },
    each,
  }
}
