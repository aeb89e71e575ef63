import { randomUUID } from 'node:crypto'

/**
 * Names hand-overs of inbound messages, of which SMPP has no ids. What comes again while the one before is not acknowledged for certain has the same
 * name; what comes again after that is another message.
 */
export interface Offers {
  /** The name for this content. */
  readonly of: (content: string) => string
  /** The carrier has the acknowledgement, or will have it in a moment. */
  acknowledged(offer: string): void
}

const openMax = 10_000

export function createOffers(): Offers {
  const open = new Map<string, string>()
  const contents = new Map<string, string>()

  function forget(offer: string): void {
    open.delete(contents.get(offer) ?? '')
    contents.delete(offer)
  }

  return {
    of(content) {
      const known = open.get(content)
      if (known !== undefined) return known
      const offer = randomUUID()
      open.set(content, offer)
      contents.set(offer, content)
      const oldest = contents.size > openMax ? contents.keys().next().value : undefined
      if (oldest !== undefined) forget(oldest)
      return offer
    },
    acknowledged: forget,
  }
}
