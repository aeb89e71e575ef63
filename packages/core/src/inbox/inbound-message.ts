import type { CarrierId } from '../dispatch/carrier-id.ts'
import { readCodedParts, type CodedText } from './coded-text.ts'
import type { Instant } from '../time/instant.ts'

/** Message of a person, as a carrier delivers it. */
export interface InboundMessage {
  readonly carrier: CarrierId
  /** Sender as the network reports it: digits with or without `+`, or any other text. */
  readonly from: string
  /** Address to which the person wrote. Undefined if the network does not report it. */
  readonly to: string | undefined
  readonly text: string
  /** Time of sending, if the network reports it. */
  readonly sent: Instant | undefined
  /** Id that the carrier gave to the message, if any. */
  readonly reference: string | undefined
  /**
   * Name of this delivery of the message. A connection that offers an unacknowledged message again uses the same name.
   */
  readonly offer: string | undefined
  /** Position of a part of a long text. Undefined for a whole text. */
  readonly part: InboundMessagePart | undefined
}

/** Position of a part in a long text. */
export interface InboundMessagePart {
  /** Number shared by all parts of a text. A sender reuses numbers after some time (3GPP TS 23.040, 9.2.3.24.1). */
  readonly group: number
  /** Number of the part, from 1. */
  readonly number: number
  readonly of: number
  /** User data, if it is needed to decode the next part. Undefined if `text` suffices. */
  readonly coded?: CodedText | undefined
}

/** Seconds within which an equal message counts as a repetition. */
export const deduplicationSeconds = 24 * 3600

/**
 * Returns the key by which a repetition is recognized: two messages of one carrier within 24 hours are the same if
 * their keys are equal. The key is the carrier's id of the message. Without an id, it is the addresses, the text and
 * the network's time; without that time, it is the name of the delivery (`offer`). A message with none of these has no
 * key and never counts as a repetition.
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

/** Returns the key of a message that has neither a carrier's id nor a time and was delivered under this name. */
export const deduplicationKeyOfOffer = (offer: string): string => JSON.stringify(['offer', offer])

/** Returns a key shared by all parts of one text, until its sender reuses the group (3GPP TS 23.040, 9.2.3.24.1). */
export const partGroupKeyOf = ({ carrier, from, to, part }: InboundMessage): string =>
  JSON.stringify([carrier, from, to, part?.group, part?.of])

/**
 * Seconds for which a repeated part is recognized after its text was joined. The limit exists because a sender may
 * later send the same long text again with the same group, which is a new message.
 */
export const joinedPartSeconds = 3600

/** Returns the key by which a repeated part is recognized. `group` is the name that the store gives to the group. */
export const joinedPartKeyOf = (group: string, { number, text }: Pick<WaitingPart, 'number' | 'text'>): string =>
  JSON.stringify(['part', group, number, text])

/** Part of a text that waits for the other parts. */
export interface WaitingPart {
  readonly number: number
  readonly text: string
  readonly coded?: CodedText | undefined
}

/** Effect of one more part on the waiting parts of its group. */
export interface AddedPart {
  /** Waiting parts of an earlier text if the sender has reused its group: that text will never be complete. */
  readonly over: readonly WaitingPart[] | undefined
  /** Parts of the text that this part completes. */
  readonly complete: readonly WaitingPart[] | undefined
  /** Parts that are stored until the others arrive. */
  readonly waiting: readonly WaitingPart[]
  /** True if an equal part already waits. The repeated part is then ignored. */
  readonly isRepeated: boolean
}

/**
 * Adds a part to the waiting parts of its group. If a waiting part has the same number and text, the new part is a
 * repetition. If a waiting part has the same number and another text, a new text begins (3GPP TS 23.040, 9.2.3.24.1).
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

/** Joins the texts of the parts in the order of their numbers. Nothing is inserted in place of a missing part. */
export function joinParts(parts: readonly WaitingPart[]): string {
  const ordered = parts.toSorted((a, b) => a.number - b.number)
  const slots = ordered.flatMap((part, at) => {
    const isNext = at === 0 || ordered[at - 1]?.number === part.number - 1
    return isNext ? [part] : [undefined, part]
  })
  const texts = readCodedParts(slots.map((part) => part?.coded))
  return slots.map((part, at) => (part?.coded === undefined ? (part?.text ?? '') : (texts[at] ?? ''))).join('')
}

/** Returns true for a valid part of a text of 2 to 255 parts. Any other message is a whole text. */
export const isPart = (
  message: InboundMessage,
): message is InboundMessage & { readonly part: NonNullable<InboundMessage['part']> } => {
  const { part } = message
  return part !== undefined && part.of >= 2 && part.of <= 255 && part.number >= 1 && part.number <= part.of
}
