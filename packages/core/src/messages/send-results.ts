import { plus, type Credits } from '../credits/credits.ts'
import type { Instant } from '../time/instant.ts'
import type { Acceptance, MessageId } from './messages.ts'
import type { Refusal } from './refusal.ts'
import { isPassed, type Recipient, type ScreenedRecipient, type ScreenedText } from './screen-texts.ts'

export interface AcceptedRecipient<To extends Recipient = Recipient> {
  /** Recipient as submitted. */
  readonly recipient: To
  /** Trimmed number (ruling 1.8). */
  readonly number: string
  readonly id: MessageId
  readonly cost: Credits
  /** Scheduled time; undefined if the message is sent at once. */
  readonly due: Instant | undefined
  /** Balance of the account after this recipient. */
  readonly balance: Credits
}

export interface RefusedRecipient<To extends Recipient = Recipient> {
  /** Recipient as submitted. */
  readonly recipient: To
  /** Trimmed number (ruling 1.8). */
  readonly number: string
  readonly refused: Refusal
  /** Balance of the account after this recipient. It is unchanged, because a refused recipient costs nothing. */
  readonly balance: Credits
}

export type SentRecipient<To extends Recipient = Recipient> = AcceptedRecipient<To> | RefusedRecipient<To>

/** One result per recipient, by text, in request order. */
export type SendResults<To extends Recipient = Recipient> = readonly (readonly SentRecipient<To>[])[]

/**
 * Merges the results of ordered recipients with the refusals of the screening. Works from the last recipient to the
 * first, because only the balance after the last one is known.
 */
export function resultsOf<To extends Recipient>(
  texts: readonly Pick<ScreenedText<To>, 'due' | 'recipients'>[],
  accepted: Acceptance,
): SendResults<To> {
  const ordered = accepted.results.length === 1 ? [...(accepted.results[0] ?? [])] : accepted.results.flat()
  let { balance } = accepted
  const resultOf = (screened: ScreenedRecipient<To>, due: Instant | undefined): SentRecipient<To> => {
    if (!isPassed(screened)) return { ...screened, balance }
    const { recipient, number, cost } = screened
    const id = ordered.pop()
    if (id === undefined) throw new Error('the store returned fewer results than the order has recipients')
    if (id === 'insufficient-credits') return { recipient, number, refused: id, balance }
    const result = { recipient, number, id, cost, due, balance }
    balance = plus(balance, cost)
    return result
  }
  return lastFirst(texts, ({ due, recipients }) => lastFirst(recipients, (recipient) => resultOf(recipient, due)))
}

/** Maps a list from its end. */
function lastFirst<Item, Result>(items: readonly Item[], result: (item: Item) => Result): readonly Result[] {
  const results = items.toReversed().map(result)
  return results.reverse()
}
