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

/** Received message with the key by which repetitions are recognized. */
export interface Keyed {
  readonly message: InboundMessage
  readonly key: string
}

/**
 * Remembers the keys of messages whose call failed, because some may have been stored. A carrier that retries passes
 * the same objects, which then get the same keys and are not stored twice.
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

/** Returns a key that is equal for two messages if and only if one repeats the other. */
function keyOf(message: InboundMessage): string {
  const deduplicationKey = deduplicationKeyOf(message)
  return deduplicationKey === undefined ? randomUUID() : keyFor(message.carrier, deduplicationKey)
}

const keyFor = (carrier: CarrierId, deduplicationKey: string): string =>
  digest(JSON.stringify([carrier, deduplicationKey]))

export const keyOfOffer = (carrier: CarrierId, offer: string): string => keyFor(carrier, deduplicationKeyOfOffer(offer))

/**
 * Returns a digest of a part of a text. It is used to recognize the part if it arrives again after its text is
 * complete.
 */
export const joinedKeyOf = (group: string, part: Pick<WaitingPart, 'number' | 'text'>): string =>
  digest(joinedPartKeyOf(group, part))

/** Returns a digest that is equal for all parts of a text. */
export const groupOf = (message: InboundMessage): string => digest(JSON.stringify([partGroupKeyOf(message)]))
