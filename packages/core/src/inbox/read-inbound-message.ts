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
