import { createHash, randomUUID } from 'node:crypto'
import { deduplicationKeyOf, partGroupKeyOf, type InboundMessage } from '@gateway/core'

/** 128 bits of SHA-256, in the form of a uuid. */
function digest(parts: readonly unknown[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** The same for two messages of which one repeats the other, and for no others. */
export function keyOf(message: InboundMessage): string {
  const deduplicationKey = deduplicationKeyOf(message)
  return deduplicationKey === undefined ? randomUUID() : digest([message.carrier, deduplicationKey])
}

/** The same for all parts of a text. */
export const groupOf = (message: InboundMessage): string => digest([partGroupKeyOf(message)])
