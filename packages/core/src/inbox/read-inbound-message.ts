import { parseMsisdn, type Msisdn } from '../message/msisdn.ts'
import type { InboundMessage } from './inbound-message.ts'
import { optKeywordOf, type OptKeyword } from './opt-keyword.ts'

/** What a message says by itself, as it is stored. */
export interface ReceivedText {
  readonly from: string
  /** `from`, if it is a number that can be written to. */
  readonly number: Msisdn | undefined
  readonly to: string | undefined
  readonly text: string
  readonly keyword: OptKeyword | undefined
}

/** Addresses without a leading `+`; a text without U+0000 and lone surrogates, which no store holds: U+FFFD stands for each. */
export function readInboundMessage({ from, to, text }: Pick<InboundMessage, 'from' | 'to' | 'text'>): ReceivedText {
  const readable = text.replace(/\0|\p{Surrogate}/gu, '\ufffd')
  const sender = addressOf(from)
  return {
    from: sender,
    number: parseMsisdn(sender),
    to: to === undefined ? undefined : addressOf(to),
    text: readable,
    keyword: optKeywordOf(readable),
  }
}

const addressLengthMax = 32

const addressOf = (text: string): string =>
  text
    .replace(/\p{Control}|\p{Surrogate}/gu, '')
    .trim()
    .replace(/^\+/, '')
    .slice(0, addressLengthMax)

/** The text of parts in their order, whatever the order they are given in; parts that are missing leave no gap. */
export const joinParts = (parts: readonly Pick<InboundMessage, 'text' | 'part'>[]): string =>
  [...parts]
    .sort((a, b) => (a.part?.number ?? 0) - (b.part?.number ?? 0))
    .map(({ text }) => text)
    .join('')

/** Whether it is a part of a text of several: from 2 to 255 parts, each with its number. Any other is a whole text. */
export const isPart = (
  message: InboundMessage,
): message is InboundMessage & { readonly part: NonNullable<InboundMessage['part']> } => {
  const { part } = message
  return part !== undefined && part.of >= 2 && part.of <= 255 && part.number >= 1 && part.number <= part.of
}
