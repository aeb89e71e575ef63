import { createHash } from 'node:crypto'
import { COMMAND_ID } from '@gateway/smpp'

/** Recognizes refused PDUs that a carrier sends again and again, such as a heartbeat of its own. */
export interface RepeatedRefusals {
  /** Returns true if an equal PDU with another sequence_number arrived recently. Always false for a delivery. */
  isRepetition(octets: Buffer): boolean
}

/** Number of PDUs that are remembered. */
const rememberedMax = 100
/** Offset of sequence_number, which is 4 octets long. */
const sequenceAt = 12

/** Creates the memory of refused PDUs. Deliveries are excluded, because two equal deliveries may be two messages. */
export function createRepeatedRefusals(): RepeatedRefusals {
  const digests = new Set<string>()
  return {
    isRepetition(octets) {
      const commandId = octets.length < 8 ? 0 : octets.readUInt32BE(4)
      if (commandId === COMMAND_ID.deliver_sm || commandId === COMMAND_ID.data_sm) return false
      const hash = createHash('sha256')
        .update(octets.subarray(0, sequenceAt))
        .update(octets.subarray(sequenceAt + 4))
      const digest = hash.digest('base64')
      const isKnown = digests.delete(digest)
      digests.add(digest)
      const oldest = digests.size > rememberedMax ? digests.values().next().value : undefined
      if (oldest !== undefined) digests.delete(oldest)
      return isKnown
    },
  }
}
