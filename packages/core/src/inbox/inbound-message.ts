import type { CarrierId } from '../dispatch/carrier-id.ts'
import { readCodedParts, type CodedText } from './coded-text.ts'
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
  /** Its user data, where a part may leave something open that the next one needs; undefined: its text is all. */
  readonly coded?: CodedText | undefined
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
  if (sent !== undefined) return JSON.stringify(['fields', from, to, text, sent, part && placeOf(part)])
  return offer === undefined ? undefined : deduplicationKeyOfOffer(offer)
}

const placeOf = ({ group, number, of }: InboundMessagePart) => ({ group, number, of })

/** That of every message that is handed over under this name, unless it has an id or a time. */
export const deduplicationKeyOfOffer = (offer: string): string => JSON.stringify(['offer', offer])

/** The same for all parts of one text, until its sender uses the group again (3GPP TS 23.040, 9.2.3.24.1). */
export const partGroupKeyOf = ({ carrier, from, to, part }: InboundMessage): string =>
  JSON.stringify([carrier, from, to, part?.group, part?.of])

/**
 * Seconds for which a part is known again after its text was put together, so that it counts once. A sender who writes
 * the same long text again after that, under the same name, has written another message.
 */
export const joinedPartSeconds = 3600

/** The same for a part that comes again; `group` is a store's own name for the group of the part. */
export const joinedPartKeyOf = (group: string, { number, text }: Pick<WaitingPart, 'number' | 'text'>): string =>
  JSON.stringify(['part', group, number, text])

/** One part of a text, as it waits for the others. */
export interface WaitingPart {
  readonly number: number
  readonly text: string
  readonly coded?: CodedText | undefined
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
  /** The same part waits already: it counts once. */
  readonly isRepeated: boolean
}

/**
 * A text is complete with as many parts as it has. A number that waits already with the same text is a repetition; with
 * another one it begins another text (3GPP TS 23.040, 9.2.3.24.1).
 */
export function addPart(
  waiting: readonly WaitingPart[],
  { number, of, coded }: Pick<InboundMessagePart, 'number' | 'of' | 'coded'>,
  text: string,
): AddedPart {
  const same = waiting.find((part) => part.number === number)
  if (same?.text === text) return { over: undefined, complete: undefined, waiting, isRepeated: true }
  const isOver = same !== undefined
  const parts = [...(isOver ? [] : waiting), { number, text, ...(coded && { coded }) }]
  const added = { over: isOver ? waiting : undefined, isRepeated: false }
  return parts.length < of
    ? { ...added, complete: undefined, waiting: parts }
    : { ...added, complete: parts, waiting: [] }
}

/** The text of parts in their order, whatever the order they are given in; parts that are missing leave no gap. */
export function joinParts(parts: readonly WaitingPart[]): string {
  const ordered = parts.toSorted((a, b) => a.number - b.number)
  const slots = ordered.flatMap((part, at) => {
    const isNext = at === 0 || ordered[at - 1]?.number === part.number - 1
    return isNext ? [part] : [undefined, part]
  })
  const texts = readCodedParts(slots.map((part) => part?.coded))
  return slots.map((part, at) => (part?.coded === undefined ? (part?.text ?? '') : (texts[at] ?? ''))).join('')
}

/** Whether it is a part of a text of several: from 2 to 255 parts, each with its number. Any other is a whole text. */
export const isPart = (
  message: InboundMessage,
): message is InboundMessage & { readonly part: NonNullable<InboundMessage['part']> } => {
  const { part } = message
  return part !== undefined && part.of >= 2 && part.of <= 255 && part.number >= 1 && part.number <= part.of
}
