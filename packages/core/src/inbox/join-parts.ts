import type { InboundMessage, InboundMessagePart } from './inbound-message.ts'

/** One part of a text, as it waits for the others. */
export interface WaitingPart {
  readonly number: number
  readonly text: string
}

/** What one more part makes of those of its group that wait. */
export interface AddedPart {
  /** A text that is over, since the sender used the name of its group again: what had waited, without what is missing. */
  readonly over: readonly WaitingPart[] | undefined
  /** The text that is complete with this part. */
  readonly complete: readonly WaitingPart[] | undefined
  /** What waits from now on. */
  readonly waiting: readonly WaitingPart[]
}

/** A text is complete with as many parts as it has; a number that waits already begins another text (3GPP TS 23.040, 9.2.3.24.1). */
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
