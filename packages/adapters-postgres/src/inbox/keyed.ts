import { randomUUID } from 'node:crypto'
import type { CarrierId } from '@gateway/core/dispatch'
import {
  deduplicationKeyOf,
  deduplicationKeyOfOffer,
  joinedPartKeyOf,
  partGroupKeyOf,
  type InboundMessage,
  type WaitingPart,
} from '@gateway/core/inbox'
import { digest } from '../value-types.ts'

/** A message in its place, under the key that it is noted by. */
export interface Keyed {
  readonly message: InboundMessage
  readonly key: string
}

/**
 * Keys of messages whose call failed, of which some may be stored all the same: whoever hands over the same objects
 * again, as carriers do that try again, stores none of them twice.
 */
export function rememberedKeys() {
  const failed = new WeakMap<InboundMessage, string[]>()
  return {
    take: (messages: readonly InboundMessage[]): readonly Keyed[] =>
      messages.map((message) => ({ message, key: failed.get(message)?.shift() ?? keyOf(message) })),
    keep: (items: readonly Keyed[]): void => {
      for (const { message, key } of items) failed.set(message, [...(failed.get(message) ?? []), key])
    },
  }
}

/** The same for two messages of which one repeats the other, and for no others. */
function keyOf(message: InboundMessage): string {
  const deduplicationKey = deduplicationKeyOf(message)
  return deduplicationKey === undefined ? randomUUID() : keyFor(message.carrier, deduplicationKey)
}

const keyFor = (carrier: CarrierId, deduplicationKey: string): string =>
  digest(JSON.stringify([carrier, deduplicationKey]))

export const keyOfOffer = (carrier: CarrierId, offer: string): string => keyFor(carrier, deduplicationKeyOfOffer(offer))

/** Digest of a part of a group, by which it is known again once its text was put together. */
export const joinedKeyOf = (group: string, part: Pick<WaitingPart, 'number' | 'text'>): string =>
  digest(joinedPartKeyOf(group, part))

/** The same for all parts of a text. */
export const groupOf = (message: InboundMessage): string => digest(JSON.stringify([partGroupKeyOf(message)]))
