import { may, type Account } from '../accounts/account.ts'
import { times, type Credits } from '../credits/credits.ts'
import { priceFor } from '../credits/prices.ts'
import type { Ports } from '../ports.ts'
import type { Suppression } from '../suppressions/suppressions.ts'
import type { Instant } from '../time/instant.ts'
import { bodyOf, type Body } from './body.ts'
import { isAhead } from './message-facts.ts'
import type { MessageReference, Refusal } from './messages.ts'
import { parseMsisdn, type Msisdn, type SenderAddress } from './msisdn.ts'
import { noOptions, type SendOptions } from './send-options.ts'

/** Returns the reason why an account may not write to a number (rulings 1.10, 1.12), or undefined if it may. */
export function screen(
  account: Account,
  to: Msisdn,
  suppressions: ReadonlySet<Suppression> | undefined,
): Refusal | undefined {
  if (suppressions?.has('blacklist')) return 'blacklisted'
  if (account.trial?.ownNumber === to) return 'trial-to-self'
  if (suppressions?.has('opt-out')) return 'opted-out'
  if (suppressions?.has('do-not-contact') && !account.transactional) return 'do-not-contact'
  return undefined
}

/**
 * Number as submitted, or an object of the caller that contains the number. The result for a recipient contains this
 * same value.
 */
export type Recipient =
  | string
  | {
      readonly number: string
      readonly clientMessageId?: string | null | undefined
      readonly reference?: MessageReference | undefined
    }

/**
 * One text to many numbers. A call of REST or with a query string has one such text; a call of XML or sendmulti may
 * have several.
 */
export interface TextToSend<To extends Recipient = Recipient> {
  readonly text: string
  /** Result of `bodyOf(text)`, if the caller has computed it. */
  readonly body?: ReturnType<typeof bodyOf> | undefined
  /** Recipients. Their numbers are trimmed; an empty one is refused as 'no-number'. */
  readonly recipients: readonly To[]
  /** Undefined or past: send at once. */
  readonly scheduled?: Instant | undefined
  readonly options?: SendOptions | undefined
  /** Undefined: the account's default (ruling 1.27). */
  readonly sender?: SenderAddress | undefined
  /**
   * Maximum number of parts; a longer text is refused as too long (ruling 2.4). Undefined: the limit of the
   * specification.
   */
  readonly partsMax?: number | undefined
}

/** Recipient that passed the screening, with its price. */
export interface Passed<To extends Recipient = Recipient> {
  readonly recipient: To
  readonly number: string
  readonly to: Msisdn
  readonly cost: Credits
}

export type ScreenedRecipient<To extends Recipient = Recipient> =
  Passed<To> | { readonly recipient: To; readonly number: string; readonly refused: Refusal }

/** Screened text. If `body` is undefined, every recipient is refused. */
export interface ScreenedText<To extends Recipient = Recipient> {
  readonly body: Body | undefined
  /** Time as requested. The store decides by its own clock whether it is past. */
  readonly scheduled: Instant | undefined
  /** Time reported to the caller; undefined if it is past. */
  readonly due: Instant | undefined
  readonly options: SendOptions
  readonly sender: SenderAddress | undefined
  readonly recipients: readonly ScreenedRecipient<To>[]
}

export const isPassed = <To extends Recipient>(recipient: ScreenedRecipient<To>): recipient is Passed<To> =>
  'to' in recipient

/** Ports that decide which messages an account may send, and at which price. */
export type ScreeningPorts = Pick<Ports, 'suppressions' | 'prices' | 'senders' | 'ledger' | 'clock'>

/**
 * Returns for each recipient the first refusal in the order of ruling 1.10, except insufficient credits, or its price
 * (ruling 1.4).
 */
export async function screenTexts<To extends Recipient>(
  ports: Pick<Ports, 'suppressions' | 'prices'>,
  account: Account,
  texts: readonly TextToSend<To>[],
  now: Instant,
): Promise<readonly ScreenedText<To>[]> {
  if (!may(account, 'send')) return texts.map((text) => allRefused(text, 'account-locked'))

  const read = texts.map((text) => {
    const body = bodyWithin(text)
    return typeof body === 'string' ? allRefused(text, body) : { text, body, recipients: text.recipients.map(parse) }
  })
  // A loop, because flatMap takes as long per number as parsing the number.
  const valid: Msisdn[] = []
  for (const each of read)
    if ('text' in each) for (const { to } of each.recipients) if (to !== undefined) valid.push(to)
  const [prices, own, suppressions] = await Promise.all([
    ports.prices.table(),
    ports.prices.of(account.id),
    valid.length === 0 ? undefined : ports.suppressions.matching(account.id, valid),
  ])

  const screenNumber = ({ recipient, number, to }: Parsed<To>, parts: number): ScreenedRecipient<To> => {
    if (number === '') return { recipient, number, refused: 'no-number' }
    const price = to === undefined ? undefined : priceFor(own, prices, to)
    if (to === undefined || price === undefined) return { recipient, number, refused: 'invalid-number' }
    const refused = screen(account, to, suppressions?.get(to))
    return refused === undefined ? { recipient, number, to, cost: times(price, parts) } : { recipient, number, refused }
  }

  return read.map((each) => {
    if (!('text' in each)) return each
    const { body, text } = each
    const { scheduled, options = noOptions, sender } = text
    const due = isAhead(scheduled, now) ? scheduled : undefined
    const recipients = each.recipients.map((recipient) => screenNumber(recipient, body.parts))
    return { body, scheduled, due, options, sender, recipients }
  })
}

interface Parsed<To extends Recipient> {
  readonly recipient: To
  readonly number: string
  readonly to: Msisdn | undefined
}

export const numberOf = (recipient: Recipient): string =>
  (typeof recipient === 'string' ? recipient : recipient.number).trim()

export const referenceOf = (recipient: Recipient): MessageReference | undefined =>
  typeof recipient === 'string' ? undefined : recipient.reference

function parse<To extends Recipient>(recipient: To): Parsed<To> {
  const number = numberOf(recipient)
  return { recipient, number, to: parseMsisdn(number) }
}

function bodyWithin({ text, body = bodyOf(text), partsMax }: TextToSend): Body | 'no-message' | 'too-long' {
  return typeof body === 'object' && partsMax !== undefined && body.parts > partsMax ? 'too-long' : body
}

/** Returns a text whose recipients are all refused for the same reason. */
export const allRefused = <To extends Recipient>(
  { recipients }: Pick<TextToSend<To>, 'recipients'>,
  refused: 'account-locked' | 'no-message' | 'too-long',
): ScreenedText<To> => ({
  body: undefined,
  scheduled: undefined,
  due: undefined,
  options: noOptions,
  sender: undefined,
  recipients: recipients.map((recipient) => ({ recipient, number: numberOf(recipient), refused })),
})
