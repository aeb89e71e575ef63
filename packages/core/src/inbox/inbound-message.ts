import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Instant } from '../time/instant.ts'

/** A message as a carrier brings it: a reply, or the first word of somebody. */
export interface InboundMessage {
  readonly carrier: CarrierId
  /** Who wrote, as the network tells it: digits with or without `+`, or anything else. */
  readonly from: string
  /** The address that it was sent to; undefined: the network does not tell. */
  readonly to: string | undefined
  readonly text: string
  /** When it was sent, if the network tells. */
  readonly sent: Instant | undefined
  /** The carrier's own id of it, if it has one. */
  readonly reference: string | undefined
  /** Names this hand-over: a link that offers again what had not been acknowledged gives the same name. */
  readonly offer: string | undefined
  /** Undefined: the text is whole. */
  readonly part: InboundMessagePart | undefined
}

/** Which part of a long text it is. */
export interface InboundMessagePart {
  /** The same for all parts of a text, used again by the sender after some time (3GPP TS 23.040, 9.2.3.24.1). */
  readonly group: number
  /** From 1. */
  readonly number: number
  readonly of: number
}

/** For so long the same message again is a repetition. */
export const deduplicationSeconds = 24 * 3600

/**
 * What tells a repetition from a second message: two messages of one carrier within 24 hours are the same if this is.
 * The carrier's id, else the numbers, the text and the time that the network gave, else the hand-over. Undefined: never
 * taken for a repetition.
 */
export function deduplicationKeyOf({
  from,
  to,
  text,
  sent,
  reference,
  offer,
  part,
}: InboundMessage): string | undefined {
  if (reference !== undefined) return JSON.stringify(['reference', reference])
  if (sent !== undefined) return JSON.stringify(['fields', from, to, text, sent, part])
  return offer === undefined ? undefined : deduplicationKeyOfOffer(offer)
}

/** That of every message that is handed over under this name, unless it has an id or a time. */
export const deduplicationKeyOfOffer = (offer: string): string => JSON.stringify(['offer', offer])

/** The same for all parts of one text, until its sender uses the group again (3GPP TS 23.040, 9.2.3.24.1). */
export const partGroupKeyOf = ({ carrier, from, to, part }: InboundMessage): string =>
  JSON.stringify([carrier, from, to, part?.group, part?.of])

/** One part of a text, as it waits for the others. */
export interface WaitingPart {
  readonly number: number
  readonly text: string
}

/** What one more part makes of those of its group that wait. */
export interface AddedPart {
  /**
   * A text that is over, since the sender used the name of its group again: what had waited, without what is missing.
   */
  readonly over: readonly WaitingPart[] | undefined
  /** The text that is complete with this part. */
  readonly complete: readonly WaitingPart[] | undefined
  /** What waits from now on. */
  readonly waiting: readonly WaitingPart[]
}

/**
 * A text is complete with as many parts as it has; a number that waits already begins another text (3GPP TS 23.040,
 * 9.2.3.24.1).
 */
export function addPart(
  waiting: readonly WaitingPart[],
  { number, of }: Pick<InboundMessagePart, 'number' | 'of'>,
  text: string,
): AddedPart {
  const isOver = waiting.some((part) => part.number === number)
  const parts = [...(isOver ? [] : waiting), { number, text }]
  const over = isOver ? waiting : undefined
  return parts.length < of ? { over, complete: undefined, waiting: parts } : { over, complete: parts, waiting: [] }
}

/** The text of parts in their order, whatever the order they are given in; parts that are missing leave no gap. */
export const joinParts = (parts: readonly WaitingPart[]): string =>
  parts
    .toSorted((a, b) => a.number - b.number)
    .map(({ text }) => text)
    .join('')

/** Whether it is a part of a text of several: from 2 to 255 parts, each with its number. Any other is a whole text. */
export const isPart = (
  message: InboundMessage,
): message is InboundMessage & { readonly part: NonNullable<InboundMessage['part']> } => {
  const { part } = message
  return part !== undefined && part.of >= 2 && part.of <= 255 && part.number >= 1 && part.number <= part.of
}
