import { bodyOf, type Body } from '../messages/body.ts'
import { parseStoredMsisdn, type Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import { withoutPadding } from './coded-text.ts'
import type { InboundMessage } from './inbound-message.ts'
import type { Received } from './inbox.ts'

/** The confirmation of an opt-out unless the operator sets another. */
export const defaultConfirmation = 'You will get no more messages from this sender. Reply START to get them again.'

/** Throws a RangeError for a text that cannot be sent. */
export function confirmationOf(text: string): Body {
  const body = bodyOf(text)
  if (typeof body === 'string') throw new RangeError(`a confirmation that cannot be sent: ${body}`)
  return body
}

/**
 * Stores what a carrier brings, with all that follows (rulings 1.18 to 1.22). The carrier may be told so once this has
 * resolved (P-7).
 */
export const receive =
  (ports: Pick<Ports, 'inbox'>, confirmation: Body) =>
  (messages: readonly InboundMessage[]): Promise<readonly Received[]> =>
    ports.inbox.receive(messages, confirmation)

/** What a message says by itself, as it is stored. */
export interface ReceivedText {
  readonly from: string
  /** `from`, if it is a number that can be written to. */
  readonly number: Msisdn | undefined
  readonly to: string | undefined
  readonly text: string
  readonly keyword: OptKeyword | undefined
}

/**
 * Addresses without a leading `+`; a text without a byte order mark before it and U+0000 behind it, which are no part
 * of it (ruling 1.32). No store holds other U+0000 and lone surrogates: U+FFFD stands for each.
 */
export function readInboundMessage({ from, to, text }: Pick<InboundMessage, 'from' | 'to' | 'text'>): ReceivedText {
  const readable = withoutPadding(text.replace(/^\ufeff/, '')).replace(/\0|\p{Surrogate}/gu, '\ufffd')
  const sender = addressOf(from)
  return {
    from: sender,
    number: parseStoredMsisdn(sender),
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

/** What a person asks for with a text of one or a few words. */
export type OptKeyword = 'opt-out' | 'opt-in'

const optOutWords = /^(?:stop|end|cancel|unsubscribe|quit)$/
/** Any one character, be it of two code units, or a line break. */
const optOutStart = /^(?:stop send|opt out|opt.out)/su
const optInWords = /^(?:start|unstop)$/

/**
 * Whether a text opts out (spec 3, trigger words; ruling 1.21) or in again (ruling 1.22): without the white space
 * around it, and without regard to the letter case of A to Z, whatever the locale.
 */
export function optKeywordOf(text: string): OptKeyword | undefined {
  const words = text.trim().replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32))
  if (optOutWords.test(words) || optOutStart.test(words)) return 'opt-out'
  return optInWords.test(words) ? 'opt-in' : undefined
}
