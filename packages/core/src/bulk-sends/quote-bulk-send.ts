import type { Account } from '../accounts/account.ts'
import { credits, minus, plus, spend, type Credits } from '../credits/credits.ts'
import { creditBalance } from '../credits/move-credits.ts'
import type { OrderedText } from '../messages/messages.ts'
import type { SenderAddress } from '../messages/msisdn.ts'
import {
  isPassed,
  screenTexts,
  type ScreenedText,
  type TextToSend,
  type ScreeningPorts,
} from '../messages/screen-texts.ts'
import { orderedTexts } from '../messages/send-messages.ts'
import { mayName } from '../messages/senders.ts'
import type { Ports } from '../ports.ts'
import type { BulkRow, BulkSendId } from './bulk-sends.ts'
import { fillIn } from './fields.ts'
import { refuseMissingValues, refusing, textsOf } from './texts-of-rows.ts'

/** Message of one row, as it would be sent at this moment. */
export interface QuotedRow {
  readonly row: BulkRow
  readonly text: string
  readonly parts: number
  readonly cost: Credits
}

/** Preview of a bulk send at this moment. */
export interface BulkQuote {
  readonly messages: number
  /** Smallest number of parts of one message. */
  readonly partsMin: number
  readonly partsMax: number
  readonly cost: Credits
  /** Credits that all recipients that pass the screening would cost, whatever the balance. */
  readonly fullCost: Credits
  readonly balance: Credits
  readonly remaining: Credits
  /** Rows that would get no message, each with its reason, including repetitions. */
  readonly refused: readonly BulkRow[]
  /** Rows whose number is not used exactly as written. */
  readonly changed: readonly BulkRow[]
  /** First rows that would get a message. */
  readonly examples: readonly QuotedRow[]
  /** Number of messages by sender. Undefined: a number of the operator, or the first code of the account. */
  readonly senders: ReadonlyMap<SenderAddress | undefined, number>
  /** Message with the most parts and, of these, the most characters. Undefined if there is no message. */
  readonly longest: QuotedRow | undefined
  /** Message with the highest price. Undefined if there is no message. */
  readonly dearest: QuotedRow | undefined
  /** The row that the caller has chosen. Undefined if the list has no such row. */
  readonly chosen: QuotedRow | RefusedRow | undefined
}

/** Row that would get no message, with the text that it would otherwise get. */
export interface RefusedRow {
  readonly row: BulkRow
  readonly text: string
  readonly parts?: undefined
}

const examplesMax = 3

/** Collects the results of the calls of a send, in their order. */
class QuoteOfCalls {
  readonly #balance: Credits
  readonly #chosenRow: number | undefined
  readonly #refused: BulkRow[] = []
  readonly #changed: BulkRow[] = []
  readonly #examples: QuotedRow[] = []
  readonly #senders = new Map<SenderAddress | undefined, number>()
  #remaining: Credits
  #fullCost = credits(0)
  #messages = 0
  #partsMin = Infinity
  #partsMax = 0
  #longest: QuotedRow | undefined
  #dearest: QuotedRow | undefined
  #chosen: QuotedRow | undefined

  constructor(balance: Credits, chosenRow: number | undefined) {
    this.#balance = balance
    this.#remaining = balance
    this.#chosenRow = chosenRow
  }

  addRows(rows: readonly BulkRow[]): void {
    for (const row of rows)
      if (row.refused !== undefined) this.#refused.push(row)
      else if (row.changed === true) this.#changed.push(row)
  }

  refuse(texts: readonly TextToSend<BulkRow>[], refused: 'invalid-sender'): void {
    for (const { recipients } of texts) for (const row of recipients) this.#refused.push(refusing(row, refused))
  }

  addScreened(
    screened: readonly ScreenedText<BulkRow>[],
    ordered: readonly OrderedText[],
    texts: readonly TextToSend<BulkRow>[],
  ): void {
    const from = ordered.flatMap(({ to }) => to.map((one) => one.from))
    const costs = screened.flatMap(({ recipients }) => recipients.filter(isPassed).map(({ cost }) => cost))
    const { paid, balance } = spend(this.#remaining, costs)
    let next = 0
    screened.forEach(({ body, recipients }, at) => {
      const text = body?.text ?? texts[at]?.text ?? ''
      for (const recipient of recipients) {
        const row = recipient.recipient
        if (!isPassed(recipient)) this.#refused.push(refusing(row, recipient.refused))
        else {
          if (paid[next] !== true) this.#refused.push(refusing(row, 'insufficient-credits'))
          else this.#addMessage({ row, text, parts: body?.parts ?? 1, cost: recipient.cost }, from[next])
          next++
        }
      }
    })
    this.#remaining = balance
    this.#fullCost = costs.reduce(plus, this.#fullCost)
  }

  #addMessage(message: QuotedRow, from: SenderAddress | undefined): void {
    this.#senders.set(from, (this.#senders.get(from) ?? 0) + 1)
    const { row, text, parts, cost } = message
    this.#messages++
    this.#partsMin = Math.min(this.#partsMin, parts)
    this.#partsMax = Math.max(this.#partsMax, parts)
    if (this.#examples.length < examplesMax) this.#examples.push(message)
    const longest = this.#longest
    if (
      longest === undefined ||
      parts > longest.parts ||
      (parts === longest.parts && text.length > longest.text.length)
    )
      this.#longest = message
    if (this.#dearest === undefined || cost > this.#dearest.cost) this.#dearest = message
    if (row.row === this.#chosenRow) this.#chosen = message
  }

  /** Returns the quote. `textOf` returns the text that a refused row would get. */
  quote(textOf: (row: BulkRow) => string): BulkQuote {
    const refused = this.#refused.sort((a, b) => a.row - b.row)
    const refusedRow = refused.find(({ row }) => row === this.#chosenRow)
    return {
      messages: this.#messages,
      partsMin: this.#messages === 0 ? 0 : this.#partsMin,
      partsMax: this.#partsMax,
      cost: minus(this.#balance, this.#remaining),
      fullCost: this.#fullCost,
      balance: this.#balance,
      remaining: this.#remaining,
      refused,
      changed: this.#changed,
      examples: this.#examples,
      senders: this.#senders,
      longest: this.#longest,
      dearest: this.#dearest,
      chosen: this.#chosen ?? (refusedRow && { row: refusedRow, text: textOf(refusedRow) }),
    }
  }
}

/**
 * Screens and prices a stored send, one call at a time. Returns undefined if the account has no such send. `chosenRow`
 * is the line of a row to return in addition.
 */
export const quoteBulkSend =
  (ports: ScreeningPorts & Pick<Ports, 'bulkSends'>) =>
  async (account: Account, id: BulkSendId, chosenRow?: number): Promise<BulkQuote | undefined> => {
    const send = await ports.bulkSends.find(account.id, id)
    if (send === undefined) return undefined
    const allowed = await ports.senders.allowedTo(account.id)
    const mayUseSender = send.sender === undefined || mayName(account, allowed, send.sender)
    const quote = new QuoteOfCalls(await creditBalance(ports)(account.id), chosenRow)
    for (let call = 0; call < send.calls; call++) {
      const rows = refuseMissingValues(send, await ports.bulkSends.rows(account.id, id, call))
      quote.addRows(rows)
      const texts = textsOf(send, rows)
      const screened = await screenTexts(ports, account, texts, ports.clock.now())
      const ordered = mayUseSender ? orderedTexts(screened, allowed) : 'invalid-sender'
      if (ordered === 'invalid-sender') quote.refuse(texts, ordered)
      else quote.addScreened(screened, ordered, texts)
    }
    return quote.quote((row) => fillIn(send.text, send.columns, row))
  }
