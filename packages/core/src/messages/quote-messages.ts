import type { Account } from '../accounts/account.ts'
import { minus, plus, credits, spend, type Credits } from '../credits/credits.ts'
import { creditBalance } from '../credits/move-credits.ts'
import {
  isPassed,
  screenTexts,
  type Recipient,
  type ScreenedRecipient,
  type ScreeningPorts,
  type TextToSend,
} from './screen-texts.ts'
import { orderedTexts } from './send-messages.ts'
import { mayName } from './senders.ts'

/** Preview of a send at this moment. */
export interface Quote<To extends Recipient = Recipient> {
  /** Price or refusal of each recipient, by text, in request order. */
  readonly texts: readonly (readonly ScreenedRecipient<To>[])[]
  /** Credits that would be charged. */
  readonly cost: Credits
  /** Total price of all recipients that pass the screening, even if the balance does not cover it. */
  readonly fullCost: Credits
  readonly balance: Credits
  /** Balance after the send. */
  readonly remaining: Credits
}

/**
 * Screens and prices a send without making it. A send gets the same results unless something changes in between.
 * Charges and stores nothing and does not count for a rate limit.
 */
export const quoteMessages =
  (ports: ScreeningPorts) =>
  async <To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
  ): Promise<Quote<To> | 'invalid-sender'> => {
    const allowed = await ports.senders.allowedTo(account.id)
    if (texts.some(({ sender }) => sender !== undefined && !mayName(account, allowed, sender))) return 'invalid-sender'
    const screened = await screenTexts(ports, account, texts, ports.clock.now())
    if (orderedTexts(screened, allowed) === 'invalid-sender') return 'invalid-sender'

    const balance = await creditBalance(ports)(account.id)
    const costs = screened.flatMap(({ recipients }) => recipients.filter(isPassed).map(({ cost }) => cost))
    const { paid, balance: remaining } = spend(balance, costs)
    let next = 0
    const quoted = (recipient: ScreenedRecipient<To>): ScreenedRecipient<To> => {
      if (!isPassed(recipient) || paid[next++] === true) return recipient
      const { recipient: to, number } = recipient
      return { recipient: to, number, refused: 'insufficient-credits' }
    }
    const quotedTexts = screened.map(({ recipients }) => recipients.map(quoted))
    return {
      texts: quotedTexts,
      cost: minus(balance, remaining),
      fullCost: costs.reduce(plus, credits(0)),
      balance,
      remaining,
    }
  }
