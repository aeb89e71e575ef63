import type { Account } from '../account/account.ts'
import { times, type Credits } from '../credits/credits.ts'
import { priceOf } from '../credits/price.ts'
import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { bodyOf, type Body } from './body.ts'
import { parseMsisdn, type Msisdn } from './msisdn.ts'
import { screen, type Refusal } from './screening.ts'

/** One text to many numbers. A call has one (REST, query-string) or several (XML, sendmulti). */
export interface TextToSend {
  readonly text: string
  /** As submitted; white space around a number does not count. An empty one is refused as 'no-number'. */
  readonly recipients: readonly string[]
  /** Undefined or past: at once. */
  readonly scheduled?: Instant | undefined
  /** A text that needs more parts is too long (ruling 2.4). Undefined: no limit but that of the specification. */
  readonly partsMax?: number | undefined
}

/** A recipient that may be written to, and what it costs. */
export interface Passed {
  readonly number: string
  readonly to: Msisdn
  readonly cost: Credits
}

export type ScreenedRecipient = Passed | { readonly number: string; readonly refused: Refusal }

/** Without a body nobody passed. */
export interface ScreenedText {
  readonly body: Body | undefined
  readonly due: Instant | undefined
  readonly recipients: readonly ScreenedRecipient[]
}

export const isPassed = (recipient: ScreenedRecipient): recipient is Passed => 'to' in recipient

/** Finds for each recipient the first refusal in the ruled order, all but the money (ruling 1.10), and its cost (ruling 1.4). */
export async function screenTexts(
  ports: Pick<Ports, 'suppressions' | 'prices'>,
  account: Account,
  texts: readonly TextToSend[],
  now: Instant,
): Promise<readonly ScreenedText[]> {
  if (account.locked) return texts.map((text) => allRefused(text, 'account-locked'))

  const read = texts.map((text) => {
    const body = bodyWithin(text)
    if (typeof body === 'string') return allRefused(text, body)
    return { body, scheduled: text.scheduled, numbers: text.recipients.map(parse) }
  })
  // Not by flatMap, which takes as long for a number as reading it.
  const valid: Msisdn[] = []
  for (const text of read)
    if ('numbers' in text) for (const { to } of text.numbers) if (to !== undefined) valid.push(to)
  const [prices, suppressions] = await Promise.all([
    ports.prices.table(),
    valid.length === 0 ? undefined : ports.suppressions.matching(account.id, valid),
  ])

  const screenNumber = ({ number, to }: Parsed, parts: number): ScreenedRecipient => {
    if (number === '') return { number, refused: 'no-number' }
    const price = to === undefined ? undefined : priceOf(prices, to)
    if (to === undefined || price === undefined) return { number, refused: 'invalid-number' }
    const refused = screen(account, to, suppressions?.get(to))
    return refused === undefined ? { number, to, cost: times(price, parts) } : { number, refused }
  }

  return read.map((text) => {
    if (!('numbers' in text)) return text
    const { body, scheduled, numbers } = text
    const due = scheduled !== undefined && scheduled > now ? scheduled : undefined
    return { body, due, recipients: numbers.map((number) => screenNumber(number, body.parts)) }
  })
}

interface Parsed {
  readonly number: string
  readonly to: Msisdn | undefined
}

function parse(submitted: string): Parsed {
  const number = submitted.trim()
  return { number, to: parseMsisdn(number) }
}

function bodyWithin({ text, partsMax }: TextToSend): Body | 'no-message' | 'too-long' {
  const body = bodyOf(text)
  return typeof body === 'object' && partsMax !== undefined && body.parts > partsMax ? 'too-long' : body
}

/** Every recipient of a text is refused for the same reason. */
export const allRefused = (
  { recipients }: Pick<TextToSend, 'recipients'>,
  refused: 'account-locked' | 'no-message' | 'too-long',
): ScreenedText => ({
  body: undefined,
  due: undefined,
  recipients: recipients.map((number) => ({ number: number.trim(), refused })),
})
