import { randomInt } from 'node:crypto'

/** Numbers that tell the long texts to one number apart (3GPP TS 23.040, 9.2.3.24.1). */
export interface MessageReferences {
  /** The next of 0 to `limit - 1` for this number; none comes again before all have been used. */
  next(to: string, limit: 256 | 65_536): number
}

/** So many numbers are remembered; the one that was written to longest ago begins anew, anywhere. */
const numbersMax = 100_000

export function messageReferences(random: (limit: number) => number = randomInt): MessageReferences {
  const last = new Map<string, number>()
  return {
    next(to, limit) {
      const reference = ((last.get(to) ?? random(65_536)) + 1) % 65_536
      last.delete(to)
      last.set(to, reference)
      const oldest = last.size > numbersMax ? last.keys().next().value : undefined
      if (oldest !== undefined) last.delete(oldest)
      return reference % limit
    },
  }
}
