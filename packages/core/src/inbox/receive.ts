import { bodyOf, type Body } from '../messages/body.ts'
import { parseStoredMsisdn, type Msisdn } from '../messages/msisdn.ts'
import type { Ports } from '../ports.ts'
import { withoutPadding } from './coded-text.ts'
import type { InboundMessage } from './inbound-message.ts'
import type { Received } from './inbox.ts'

/** Default text of the confirmation of an opt-out. */
export const defaultConfirmation = 'You will get no more messages from this sender. Reply START to get them again.'

/** Encodes the text of a confirmation. Throws a RangeError if the text cannot be sent. */
export function confirmationOf(text: string): Body {
  const body = bodyOf(text)
  if (typeof body === 'string') throw new RangeError(`the text of the confirmation cannot be sent: ${body}`)
  return body
}

/**
 * Stores inbound messages of a carrier with their effects (rulings 1.18 to 1.22). Once the promise has resolved, they
 * may be acknowledged to the carrier (P-7).
 */
export const receive =
  (ports: Pick<Ports, 'inbox'>, confirmation: Body) =>
  (messages: readonly InboundMessage[]): Promise<readonly Received[]> =>
    ports.inbox.receive(messages, confirmation)

/** Content of an inbound message, as it is stored. */
export interface ReceivedText {
  readonly from: string
  /** Parsed `from`, if it is a number to which messages can be sent. */
  readonly number: Msisdn | undefined
  readonly to: string | undefined
  readonly text: string
  readonly keyword: OptKeyword | undefined
}

/**
 * Normalizes an inbound message (ruling 1.32). Removes a leading `+` from addresses, a byte order mark before the text,
 * and U+0000 after it. Replaces any other U+0000 and lone surrogates with U+FFFD, because PostgreSQL cannot store them.
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

/** Request of a person by a keyword. */
export type OptKeyword = 'opt-out' | 'opt-in'

const optOutWords = /^(?:stop|end|cancel|unsubscribe|quit)$/
/**
 * The flags `s` and `u` let the `.` between the words also match a line break, or a surrogate pair as one character.
 */
const optOutStart = /^(?:stop send|opt out|opt.out)/su
const optInWords = /^(?:start|unstop)$/

/**
 * Returns whether a text opts out (spec 3, trigger words; ruling 1.21), opts in again (ruling 1.22), or does neither.
 * Ignores white space around the text and the letter case of A to Z, whatever the locale.
 */
export function optKeywordOf(text: string): OptKeyword | undefined {
  const words = text.trim().replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32))
  if (optOutWords.test(words) || optOutStart.test(words)) return 'opt-out'
  return optInWords.test(words) ? 'opt-in' : undefined
}
