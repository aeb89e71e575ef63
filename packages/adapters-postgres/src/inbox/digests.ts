import { createHash, randomUUID } from 'node:crypto'
import { samenessOf, type Arrival } from '@gateway/core'

/** 128 bits of SHA-256, in the form of a uuid. */
function digest(parts: readonly unknown[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** The same for two arrivals of which one repeats the other, and for no others. */
export function keyOf(arrival: Arrival): string {
  const sameness = samenessOf(arrival)
  return sameness === undefined ? randomUUID() : digest([arrival.carrier, sameness])
}

/** The same for all parts of a text. */
export const groupOf = ({ carrier, from, to, part }: Arrival): string =>
  digest([carrier, from, to, part?.group, part?.of])
