import type { Account } from '../account/account.ts'
import type { OverLimit } from '../account/rate-limits.ts'
import { creditBalance } from '../credits/credit-balance.ts'
import { plus, type Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { sendersOf } from './choose-sender.ts'
import type { MessageId } from './message-id.ts'
import type { Acceptance, OrderedText } from './messages.ts'
import {
  allRefused,
  isPassed,
  screenTexts,
  type Recipient,
  type ScreenedRecipient,
  type ScreenedText,
  type TextToSend,
} from './screen-texts.ts'
import type { Refusal } from './screening.ts'
import type { SenderAddress } from './sender-address.ts'

export interface AcceptedRecipient<To extends Recipient = Recipient> {
  /** As submitted. */
  readonly recipient: To
  /** Its number, trimmed (ruling 1.8). */
  readonly number: string
  readonly id: MessageId
  readonly cost: Credits
  /** Undefined: it goes out at once. */
  readonly due: Instant | undefined
  /** The account's balance after this recipient. */
  readonly balance: Credits
}

export interface RefusedRecipient<To extends Recipient = Recipient> {
  /** As submitted. */
  readonly recipient: To
  /** Its number, trimmed (ruling 1.8). */
  readonly number: string
  readonly refused: Refusal
  /** The account's balance after this recipient, who cost nothing. */
  readonly balance: Credits
}

export type SentRecipient<To extends Recipient = Recipient> = AcceptedRecipient<To> | RefusedRecipient<To>

/** One result per recipient, by text, in request order. */
export type SendResults<To extends Recipient = Recipient> = readonly (readonly SentRecipient<To>[])[]

/**
 * Screens, charges and accepts (rulings 1.4 to 1.13). An accepted recipient has an id, is charged, and survives a crash
 * (P-1); a refused one leaves no trace (P-3). Overloaded or OverLimit: nothing was charged or stored.
 */
export const sendMessages =
  (
    ports: Pick<Ports, 'rateLimits' | 'messages' | 'suppressions' | 'prices' | 'ledger' | 'clock'>,
    pool: readonly SenderAddress[],
  ) =>
  async <To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
  ): Promise<SendResults<To> | 'overloaded' | OverLimit> => {
    const { recipientsPerSecond: perSecond } = account
    if (perSecond !== undefined) {
      const count = texts.reduce((sum, { recipients }) => sum + recipients.length, 0)
      const taken = await ports.rateLimits.take(account.id, 'recipients', count, perSecond)
      if (taken !== 'taken') return taken
    }
    const screened = await screenTexts(ports, account, texts, ports.clock.now())
    const order = { account: account.id, senders: sendersOf(account, pool), texts: orderedTexts(screened) }
    const accepted = order.texts.length === 0 ? 'nobody' : await ports.messages.accept(order)
    if (accepted === 'overloaded') return 'overloaded'
    if (typeof accepted === 'object') return resultsOf(screened, accepted)

    const balance = await creditBalance(ports)(account.id)
    // Locked between screening and charging: the first refusal of all (ruling 1.10).
    const refused = accepted === 'nobody' ? screened : texts.map((text) => allRefused(text, 'account-locked'))
    return resultsOf(refused, { results: [], balance })
  }

const orderedTexts = (texts: readonly ScreenedText[]): readonly OrderedText[] =>
  texts.flatMap(({ body, due, recipients }) => {
    const to = recipients.filter(isPassed).map((passed) => ({ number: passed.to, cost: passed.cost }))
    return body === undefined || to.length === 0 ? [] : [{ body, due, to }]
  })

/** Puts the results of those that were ordered back among those that were refused before, the last first: its balance is known. */
function resultsOf<To extends Recipient>(texts: readonly ScreenedText<To>[], accepted: Acceptance): SendResults<To> {
  const ordered = accepted.results.length === 1 ? [...(accepted.results[0] ?? [])] : accepted.results.flat()
  let { balance } = accepted
  const resultOf = (screened: ScreenedRecipient<To>, due: Instant | undefined): SentRecipient<To> => {
    if (!isPassed(screened)) return { ...screened, balance }
    const { recipient, number, cost } = screened
    const id = ordered.pop()
    if (id === undefined) throw new Error('the store gave fewer results than it got recipients')
    if (id === 'insufficient-credits') return { recipient, number, refused: id, balance }
    const result = { recipient, number, id, cost, due, balance }
    balance = plus(balance, cost)
    return result
  }
  return lastFirst(texts, ({ due, recipients }) => lastFirst(recipients, (recipient) => resultOf(recipient, due)))
}

/** `map`, from the end. */
function lastFirst<Item, Result>(items: readonly Item[], result: (item: Item) => Result): readonly Result[] {
  const results = items.toReversed().map(result)
  return results.reverse()
}
