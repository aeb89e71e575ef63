import type { AccountActivity, OverLimit } from '../accounts/account-rates.ts'
import type { Account } from '../accounts/account.ts'
import { credits, plus, type Credits } from '../credits/credits.ts'
import { creditBalance } from '../credits/move-credits.ts'
import type { Ports } from '../ports.ts'
import {
  isAnswer,
  onceAtATime,
  type ClientRequest,
  type FirstAnswer,
  type IdempotencyKey,
} from '../client-requests/client-requests.ts'
import type { Instant } from '../time/instant.ts'
import type { Acceptance, MessageId, Order, OrderedText } from './messages.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import type { Refusal } from './refusal.ts'
import {
  allRefused,
  isPassed,
  numberOf,
  referenceOf,
  screenTexts,
  type Recipient,
  type ScreenedRecipient,
  type ScreenedText,
  type TextToSend,
} from './screen-texts.ts'
import { noOptions, sendOptionNames, type SendOptions } from './send-options.ts'
import { mayName, senderFor, sendersOf, type AllowedSender } from './senders.ts'

type SendPorts = Pick<
  Ports,
  'rateLimits' | 'messages' | 'suppressions' | 'prices' | 'senders' | 'ledger' | 'clientRequests' | 'clock'
>

/**
 * Screens, charges and accepts (rulings 1.4 to 1.13). An accepted recipient has an id, is charged, and survives a crash
 * (P-1); a refused one leaves no trace (P-3). Overloaded, OverLimit or invalid-sender (ruling 1.27): nothing was
 * charged or stored.
 *
 * With a key the same request is done once, and every repetition has the results of the first for 48 hours, whatever
 * has changed meanwhile; those that wait for it too (ruling 1.24). Another request: the key has the answer to one that
 * asked for something else.
 */
export function sendMessages(ports: SendPorts, pool: readonly SenderAddress[], activity?: AccountActivity) {
  const once = onceAtATime<'overloaded' | 'invalid-sender' | OverLimit>()

  async function send<To extends Recipient, Refusal extends 'overloaded' | 'repeated'>(
    account: Account,
    texts: readonly TextToSend<To>[],
    accept: (order: Order, screened: readonly ScreenedText[]) => Promise<Acceptance | 'account-locked' | Refusal>,
  ): Promise<SendResults<To> | OverLimit | 'invalid-sender' | Refusal> {
    const allowed = await ports.senders.allowedTo(account.id)
    if (texts.some(({ sender }) => sender !== undefined && !mayName(account, allowed, sender))) return 'invalid-sender'
    const { recipientsPerSecond: perSecond } = account
    if (perSecond !== undefined) {
      const count = texts.reduce((sum, { recipients }) => sum + recipients.length, 0)
      const taken = await ports.rateLimits.take(account.id, 'recipients', count, perSecond)
      if (taken !== 'taken') return taken
    }
    const screened = await screenTexts(ports, account, texts, ports.clock.now())
    const ordered = orderedTexts(screened, allowed)
    if (ordered === 'invalid-sender') return ordered
    const order = { account: account.id, senders: sendersOf(account, pool), texts: ordered }
    const accepted = order.texts.length === 0 ? undefined : await accept(order, screened)
    if (typeof accepted === 'object') {
      activity?.accepted(account.id, messagesIn(accepted))
      return resultsOf(screened, accepted)
    }
    if (accepted !== undefined && accepted !== 'account-locked') return accepted

    const balance = await creditBalance(ports)(account.id)
    // Locked between screening and charging: the first refusal of all (ruling 1.10).
    const refused = accepted === undefined ? screened : texts.map((text) => allRefused(text, 'account-locked'))
    return resultsOf(refused, { results: [], balance })
  }

  async function sendFirst(
    account: Account,
    texts: readonly TextToSend[],
    request: ClientRequest,
  ): Promise<FirstAnswer | 'another-request' | 'overloaded' | 'invalid-sender' | OverLimit> {
    const { messages, clientRequests } = ports
    // A repetition takes nothing of a rate limit, and its sender was allowed when it was first asked for.
    const isAskedFirst = account.recipientsPerSecond !== undefined || texts.some(({ sender }) => sender !== undefined)
    const found = isAskedFirst ? await clientRequests.find(request) : undefined
    if (found !== undefined) return found

    const sent = await send(account, texts, (order, screened) =>
      messages.acceptOnce(order, request, (results) =>
        answerText(resultsOf(screened, { results, balance: credits(0) })),
      ),
    )
    // None is found if it stopped to count in this moment.
    if (sent === 'repeated') return (await clientRequests.find(request)) ?? sendFirst(account, texts, request)
    if (typeof sent === 'string' || 'overLimitSeconds' in sent) return sent
    const answer = new GivenAnswer(texts, sent)
    const isAnyAccepted = sent.some((recipients) => recipients.some((recipient) => 'id' in recipient))
    return isAnyAccepted ? answer : clientRequests.keep(request, { text: answer.text, balance: answer.balance })
  }

  function sendMessages<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
  ): Promise<SendResults<To> | 'overloaded' | 'invalid-sender' | OverLimit>
  function sendMessages<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
    key: IdempotencyKey | undefined,
  ): Promise<SendResults<To> | 'overloaded' | 'invalid-sender' | OverLimit | 'another-request'>
  function sendMessages<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
    key?: IdempotencyKey,
  ) {
    return key === undefined
      ? send(account, texts, (order) => ports.messages.accept(order))
      : sendOnce(account, texts, key)
  }

  async function sendOnce<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
    key: IdempotencyKey,
  ) {
    const request = { account: account.id, key, asked: askedFor(texts) }
    const answer = await once(request, () => sendFirst(account, texts, request))
    if (answer instanceof GivenAnswer && answer.texts === texts) return answer.sent as SendResults<To>
    return isAnswer(answer) ? resultsIn(answer, texts) : answer
  }
  return sendMessages
}

/** The answer to the request that was done, for those that wait for it: written where one does. */
class GivenAnswer implements FirstAnswer {
  readonly texts: readonly TextToSend[]
  readonly sent: SendResults

  constructor(texts: readonly TextToSend[], sent: SendResults) {
    this.texts = texts
    this.sent = sent
  }

  get text() {
    return answerText(this.sent)
  }

  get balance() {
    return this.sent.flat().at(-1)?.balance
  }
}

const messagesIn = ({ results }: Acceptance): number =>
  results.reduce((sum, ofText) => sum + ofText.filter((result) => result !== 'insufficient-credits').length, 0)

export function orderedTexts(
  texts: readonly ScreenedText[],
  allowed: readonly AllowedSender[],
): readonly OrderedText[] | 'invalid-sender' {
  const refused: Msisdn[] = []
  const ordered = texts.flatMap(({ body, scheduled, options, sender, recipients }) => {
    const isFrom = sender !== undefined || allowed.length > 0
    const to = recipients.filter(isPassed).map(({ to: number, cost, recipient }) => {
      const from = isFrom ? senderFor(allowed, sender, number) : undefined
      if (from !== 'refused') return { number, cost, reference: referenceOf(recipient), from }
      refused.push(number)
      return { number, cost }
    })
    return body === undefined || to.length === 0 ? [] : [{ body, due: scheduled, options, to }]
  })
  return refused.length > 0 ? 'invalid-sender' : ordered
}

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
 * Puts the results of those that were ordered back among those that were refused before, the last first: its balance is
 * known.
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

/**
 * The first id of neighbours with consecutive ids, how many they are, and what each cost; or why so many neighbours
 * were refused.
 */
type Run = [first: MessageId, count: number, cost: Credits] | [refused: Refusal, count: number]

/** When the text goes out, null for at once, and its recipients in request order. */
type AnsweredText = readonly [due: Instant | null, ...runs: Run[]]

/**
 * What is asked for, in its only form: all that the results depend on, and nothing of how it was written (ruling 1.24).
 */
export const askedFor = (texts: readonly TextToSend[]): string =>
  JSON.stringify([
    'send',
    ...texts.map(({ text, recipients, scheduled = null, partsMax = null, options, sender }) => [
      text,
      scheduled,
      partsMax,
      ...optionsPrint(options, sender),
      ...recipients.map((recipient) => {
        const own = typeof recipient === 'string' ? null : (recipient.clientMessageId ?? null)
        const reference = referenceOf(recipient)
        if (reference !== undefined) return [numberOf(recipient), own, reference]
        return own === null ? numberOf(recipient) : [numberOf(recipient), own]
      }),
    ]),
  ])

/**
 * Returns the sender and the options in one order: validity, sender, then as in `sendOptionNames`; none if all are left
 * out. The order never changes, because the digests of stored requests depend on it.
 */
function optionsPrint(options: SendOptions = noOptions, sender: SenderAddress | undefined): readonly object[] {
  const ordered = Object.fromEntries(sendOptionNames.map((name) => [name, options[name] || undefined]))
  const print = { validity: undefined, sender, ...ordered }
  return Object.values(print).every((value) => value === undefined) ? [] : [print]
}

/**
 * The results as they are kept: of recipients in order, with consecutive ids and at one price, some thirty characters
 * in all.
 */
export const answerText = (results: SendResults): string =>
  JSON.stringify(
    results.map((recipients): AnsweredText => {
      const accepted = recipients.find((recipient) => 'id' in recipient)
      return [accepted?.due ?? null, ...runsOf(recipients)]
    }),
  )

function runsOf(recipients: readonly SentRecipient[]): Run[] {
  const runs: Run[] = []
  for (const recipient of recipients) {
    const last = runs.at(-1)
    if (last !== undefined && continues(last, recipient)) last[1]++
    else runs.push('id' in recipient ? [recipient.id, 1, recipient.cost] : [recipient.refused, 1])
  }
  return runs
}

const continues = ([first, count, cost]: Run, recipient: SentRecipient): boolean =>
  'id' in recipient
    ? typeof first === 'number' && recipient.id === first + count && recipient.cost === cost
    : first === recipient.refused

/** The results that `answerText` was given, for the recipients of the same request. */
export function resultsIn<To extends Recipient>(
  { text, balance = credits(0) }: FirstAnswer,
  texts: readonly TextToSend<To>[],
): SendResults<To> {
  const answered = JSON.parse(text) as readonly AnsweredText[]
  const ids: MessageId[] = []
  const screened = texts.map(({ recipients }, i) => {
    const [due = null, ...runs] = answered[i] ?? []
    const each = runs.flatMap((run) => Array.from({ length: run[1] }, (_, nth) => ({ run, nth })))
    return {
      body: undefined,
      due: due ?? undefined,
      recipients: recipients.map((recipient, at): ScreenedRecipient<To> => {
        const { run: [first, , cost] = [], nth = 0 } = each[at] ?? {}
        if (first === undefined) throw new Error('a first answer has fewer results than its request has recipients')
        const number = numberOf(recipient)
        if (typeof first === 'string') return { recipient, number, refused: first }
        ids.push((first + nth) as MessageId)
        return { recipient, number, to: number as Msisdn, cost }
      }),
    }
  })
  return resultsOf(screened, { results: [ids], balance })
}
