import { decodePdu, malformed } from './decode-pdu.ts'
import { headerOctets } from './constants.ts'
import type { ReceivedPdu } from './pdu.ts'

/** Finds the PDUs in a stream of bytes. */
export interface PduReader {
  /**
   * The PDUs that are complete with this chunk, in order. Never throws. After a malformed one with `endsSession`
   * nothing is read any more. Buffers in PDUs are views of the chunk: copy what is kept for long.
   */
  read(chunk: Buffer): readonly ReceivedPdu[]
  /** The same, one after the other, each with the octets that it was read from. They are not written to again. */
  each(chunk: Buffer, take: (pdu: ReceivedPdu, bytes: Buffer, start: number, end: number) => void): void
}

/** A message_payload of 65535 octets with every other field. */
const commandLengthMaxDefault = 69_632

/**
 * Holds at most `commandLengthMax` octets of a PDU that is not complete, and never more than twice of what has come.
 */
export function pduReader(commandLengthMax = commandLengthMaxDefault): PduReader {
  let held: Buffer = Buffer.alloc(0)
  let heldLength = 0
  let hasEnded = false

  /** What is held with the chunk behind it. */
  function append(chunk: Buffer): Buffer {
    const length = heldLength + chunk.length
    if (length > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * heldLength))
      held.copy(grown, 0, 0, heldLength)
      held = grown
    }
    chunk.copy(held, heldLength)
    heldLength = length
    return held.subarray(0, length)
  }

  /** PDUs have views of what they were read from, so the rest is copied to another place. */
  function hold(rest: Buffer): void {
    held = rest.length === 0 ? rest : Buffer.from(rest)
    heldLength = rest.length
  }

  function each(chunk: Buffer, take: Parameters<PduReader['each']>[1]): void {
    if (hasEnded) return
    const isAppended = heldLength > 0
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
