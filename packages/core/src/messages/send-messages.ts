import type { AccountActivity, OverLimit } from '../accounts/account-rates.ts'
import type { Account } from '../accounts/account.ts'
import { creditBalance } from '../credits/move-credits.ts'
import type { Ports } from '../ports.ts'
import {
  isAnswer,
  onceAtATime,
  type ClientRequest,
  type FirstAnswer,
  type IdempotencyKey,
} from '../client-requests/client-requests.ts'
import type { AnswerDeadline } from './answer-deadline.ts'
import { answerText, draftAnswer, resultsIn, resultsOf, type SendResults } from './send-results.ts'
import type { Acceptance, Order, OrderedText } from './messages.ts'
import type { Msisdn, SenderAddress } from './msisdn.ts'
import {
  allRefused,
  isPassed,
  numberOf,
  referenceOf,
  screenTexts,
  type Recipient,
  type ScreenedText,
  type ScreeningPorts,
  type TextToSend,
} from './screen-texts.ts'
import { noOptions, sendOptionNames, type SendOptions } from './send-options.ts'
import { mayName, senderFor, sendersOf, type AllowedSender } from './senders.ts'

type SendPorts = ScreeningPorts & Pick<Ports, 'accountRates' | 'messages' | 'clientRequests'>

/** How a request is to be sent. */
export interface Sending {
  /** Time by which the caller must have an answer; undefined: none. */
  readonly deadline?: AnswerDeadline | undefined
  /** True if the ids of the accepted recipients must be consecutive in request order (ruling 5.3). */
  readonly isConsecutive?: boolean | undefined
  /** Identity of a request with a key. Default: `canonicalForm`. */
  readonly canonical?: string | undefined
  /** As `ClientRequest.keptSeconds`. */
  readonly keptSeconds?: number | undefined
}

/**
 * Screens, charges and accepts messages (rulings 1.4 to 1.13). An accepted recipient has an id, is charged, and
 * survives a crash (P-1); a refused one leaves no trace (P-3). 'overloaded', OverLimit and 'invalid-sender' (ruling
 * 1.27) mean that nothing was charged or stored.
 *
 * With a key the request is executed once, and every repetition within 48 hours (`keptSeconds`), also a concurrent
 * one, receives the first results, whatever has changed meanwhile (ruling 1.24). 'another-request': the key belongs to
 * a different request.
 */
export function sendMessages(ports: SendPorts, pool: readonly SenderAddress[], activity?: AccountActivity) {
  const once = onceAtATime<'overloaded' | 'invalid-sender' | OverLimit>()

  async function send<To extends Recipient, Refusal extends 'overloaded' | 'repeated'>(
    account: Account,
    texts: readonly TextToSend<To>[],
    { isConsecutive }: Sending,
    accept: (order: Order, screened: readonly ScreenedText[]) => Promise<Acceptance | 'account-locked' | Refusal>,
  ): Promise<SendResults<To> | OverLimit | 'invalid-sender' | Refusal> {
    const allowed = await ports.senders.allowedTo(account.id)
    if (texts.some(({ sender }) => sender !== undefined && !mayName(account, allowed, sender))) return 'invalid-sender'
    const { recipientsPerSecond: perSecond } = account
    if (perSecond !== undefined) {
      const count = texts.reduce((sum, { recipients }) => sum + recipients.length, 0)
      const limited = await ports.accountRates.take(account.id, 'recipients', count, perSecond)
      if (limited !== 'taken') return limited
    }
    const screened = await screenTexts(ports, account, texts, ports.clock.now())
    const ordered = orderedTexts(screened, allowed)
    if (ordered === 'invalid-sender') return ordered
    const order = { account: account.id, senders: sendersOf(account, pool), texts: ordered, isConsecutive }
    const accepted = order.texts.length === 0 ? undefined : await accept(order, screened)
    if (typeof accepted === 'object') {
      activity?.accepted(account.id, messagesIn(accepted))
      return resultsOf(screened, accepted)
    }
    if (accepted !== undefined && accepted !== 'account-locked') return accepted

    const balance = await creditBalance(ports)(account.id)
    // The account was locked between the screening and the charge. All recipients are refused for that reason, because
    // it is the first one in the order of refusals (ruling 1.10).
    const refused = accepted === undefined ? screened : texts.map((text) => allRefused(text, 'account-locked'))
    return resultsOf(refused, { results: [], balance })
  }

  async function sendFirst(
    account: Account,
    texts: readonly TextToSend[],
    request: ClientRequest,
    sending: Sending,
  ): Promise<FirstAnswer | 'another-request' | 'overloaded' | 'invalid-sender' | OverLimit> {
    const { messages, clientRequests } = ports
    // Look for a stored answer before the rate limit and the sender are checked: a repetition does not count for a rate
    // limit, and its sender was allowed at the first request.
    const isFirstRequest = account.recipientsPerSecond !== undefined || texts.some(({ sender }) => sender !== undefined)
    const found = isFirstRequest ? await clientRequests.find(request) : undefined
    if (found !== undefined) return found

    const sent = await send(account, texts, sending, (order, screened) =>
      messages.acceptOnce(order, request, draftAnswer(screened), sending.deadline),
    )
    // If the stored answer has expired just now, `find` does not return it, and the request is executed as a first
    // request.
    if (sent === 'repeated') return (await clientRequests.find(request)) ?? sendFirst(account, texts, request, sending)
    if (typeof sent === 'string' || 'overLimitSeconds' in sent) return sent
    const answer = new ComputedAnswer(texts, sent)
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
    sending?: Sending,
  ): Promise<SendResults<To> | 'overloaded' | 'invalid-sender' | OverLimit | 'another-request'>
  function sendMessages<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
    key?: IdempotencyKey,
    sending: Sending = {},
  ) {
    return key === undefined
      ? send(account, texts, sending, (order) => ports.messages.accept(order, sending.deadline))
      : sendOnce(account, texts, key, sending)
  }

  async function sendOnce<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
    key: IdempotencyKey,
    sending: Sending,
  ) {
    const { canonical = canonicalForm(texts), keptSeconds } = sending
    const request = { account: account.id, key, canonical, keptSeconds }
    const answer = await once(request, () => sendFirst(account, texts, request, sending))
    if (answer instanceof ComputedAnswer && answer.texts === texts) return answer.sent as SendResults<To>
    return isAnswer(answer) ? resultsIn(answer, texts) : answer
  }
  return sendMessages
}

/**
 * Answer of an executed request, which concurrent repetitions of the request receive as well. The text is formatted
 * only if there is such a repetition.
 */
class ComputedAnswer implements FirstAnswer {
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

/**
 * Returns the canonical form of a request. It contains everything on which the results depend, and is the same however
 * the request was written (ruling 1.24).
 */
export const canonicalForm = (texts: readonly TextToSend[]): string =>
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
 * Returns the options and the sender in a fixed order: validity, sender, then the other options in the order of
 * `sendOptionNames`. Returns an empty array if all of them are omitted. The order never changes, because the digests of
 * stored requests depend on it.
 */
function optionsPrint(options: SendOptions = noOptions, sender: SenderAddress | undefined): readonly object[] {
  const ordered = Object.fromEntries(sendOptionNames.map((name) => [name, options[name] || undefined]))
  const print = { validity: undefined, sender, ...ordered }
  return Object.values(print).every((value) => value === undefined) ? [] : [print]
}
