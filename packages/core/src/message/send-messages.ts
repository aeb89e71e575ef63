import type { Account } from '../account/account.ts'
import { creditBalance } from '../credits/credit-balance.ts'
import { minus, plus, type Credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import type { Instant } from '../time/instant.ts'
import { chooseSenders } from './choose-senders.ts'
import type { MessageId } from './message-id.ts'
import type { Acceptance, Order } from './messages.ts'
import type { Msisdn } from './msisdn.ts'
import { allRefused, isPassed, screenTexts, type ScreenedText, type TextToSend } from './screen-texts.ts'
import type { Refusal } from './screening.ts'
import type { SenderAddress } from './sender-address.ts'

export interface AcceptedRecipient {
  readonly number: string
  readonly id: MessageId
  readonly cost: Credits
  /** Undefined: it goes out at once. */
  readonly due: Instant | undefined
  /** The account's balance after this recipient. */
  readonly balance: Credits
}

export interface RefusedRecipient {
  readonly number: string
  readonly refused: Refusal
  /** The account's balance after this recipient, who cost nothing. */
  readonly balance: Credits
}

export type SentRecipient = AcceptedRecipient | RefusedRecipient

/** One result per recipient, by text, in request order. Numbers are echoed as submitted, trimmed (ruling 1.8). */
export type SendResults = readonly (readonly SentRecipient[])[]

/**
 * Screens, charges and accepts (rulings 1.4 to 1.13). An accepted recipient has an id, is charged, and survives a crash
 * (P-1); a refused one leaves no trace (P-3). Overloaded: nothing was charged or stored.
 */
export const sendMessages =
  (
    ports: Pick<Ports, 'messages' | 'suppressions' | 'prices' | 'ledger' | 'senders' | 'clock'>,
    pool: readonly SenderAddress[],
  ) =>
  async (account: Account, texts: readonly TextToSend[]): Promise<SendResults | 'overloaded'> => {
    const screened = await screenTexts(ports, account, texts, ports.clock.now())
    const passed = screened.flatMap(({ recipients }) => recipients.filter(isPassed).map(({ to }) => to))
    const order = orderOf(account, screened, await chooseSenders(ports, account, passed, pool))
    const accepted = order.texts.length === 0 ? 'nobody' : await ports.messages.accept(order)
    if (accepted === 'overloaded') return 'overloaded'
    if (typeof accepted === 'object') return resultsOf(screened, accepted)

    const balance = await creditBalance(ports)(account.id)
    // Locked between screening and charging: the first refusal of all (ruling 1.10).
    const refused = accepted === 'nobody' ? screened : texts.map((text) => allRefused(text, 'account-locked'))
    return resultsOf(refused, { results: [], balance })
  }

const orderOf = (
  account: Account,
  texts: readonly ScreenedText[],
  senderOf: (number: Msisdn) => SenderAddress,
): Order => ({
  account: account.id,
  texts: texts.flatMap(({ body, due, recipients }) => {
    const to = recipients.filter(isPassed).map((passed) => ({
      number: passed.to,
      cost: passed.cost,
      from: senderOf(passed.to),
    }))
    return body === undefined || to.length === 0 ? [] : [{ body, due, to }]
  }),
})

/** Puts the results of those that were ordered back among those that were refused before, each with its running balance. */
function resultsOf(texts: readonly ScreenedText[], accepted: Acceptance): SendResults {
  const ordered = accepted.results.length === 1 ? (accepted.results[0] ?? []) : accepted.results.flat()
  let balance = accepted.balance
  let next = 0
  for (const { recipients } of texts) {
    for (const recipient of recipients) {
      if (isPassed(recipient) && typeof ordered[next++] === 'number') balance = plus(balance, recipient.cost)
    }
  }
  next = 0
  return texts.map(({ due, recipients }) =>
    recipients.map((recipient): SentRecipient => {
      if (!isPassed(recipient)) return { ...recipient, balance }
      const { number, cost } = recipient
      const id = ordered[next++]
      if (id === undefined) throw new Error('the store gave fewer results than it got recipients')
      if (id === 'insufficient-credits') return { number, refused: id, balance }
      balance = minus(balance, cost)
      return { number, id, cost, due, balance }
    }),
  )
}
