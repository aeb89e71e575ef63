import type { AccountActivity } from '../account/account-rates.ts'
import type { Account } from '../account/account.ts'
import type { OverLimit } from '../account/rate-limits.ts'
import { creditBalance } from '../credits/credit-balance.ts'
import { credits } from '../credits/credits.ts'
import type { Ports } from '../ports.ts'
import type { ClientRequest, FirstAnswer } from '../retry/client-requests.ts'
import type { IdempotencyKey } from '../retry/idempotency-key.ts'
import { isAnswer, onceAtATime } from '../retry/once-at-a-time.ts'
import { sendersOf } from './choose-sender.ts'
import type { Acceptance, Order, OrderedText } from './messages.ts'
import {
  allRefused,
  isPassed,
  screenTexts,
  type Recipient,
  type ScreenedText,
  type TextToSend,
} from './screen-texts.ts'
import { answerText, askedFor, resultsIn } from './send-answer.ts'
import { resultsOf, type SendResults } from './send-results.ts'
import type { SenderAddress } from './sender-address.ts'

type SendPorts = Pick<
  Ports,
  'rateLimits' | 'messages' | 'suppressions' | 'prices' | 'ledger' | 'clientRequests' | 'clock'
>

/**
 * Screens, charges and accepts (rulings 1.4 to 1.13). An accepted recipient has an id, is charged, and survives a crash
 * (P-1); a refused one leaves no trace (P-3). Overloaded or OverLimit: nothing was charged or stored.
 *
 * With a key the same request is done once, and every repetition has the results of the first for 48 hours, whatever has changed
 * meanwhile; those that wait for it too (ruling 1.24). Another request: the key has the answer to one that asked for something else.
 */
export function sendMessages(ports: SendPorts, pool: readonly SenderAddress[], activity?: AccountActivity) {
  const once = onceAtATime<'overloaded' | OverLimit>()

  async function send<To extends Recipient, Refusal extends 'overloaded' | 'repeated'>(
    account: Account,
    texts: readonly TextToSend<To>[],
    accept: (order: Order, screened: readonly ScreenedText[]) => Promise<Acceptance | 'account-locked' | Refusal>,
  ): Promise<SendResults<To> | OverLimit | Refusal> {
    const { recipientsPerSecond: perSecond } = account
    if (perSecond !== undefined) {
      const count = texts.reduce((sum, { recipients }) => sum + recipients.length, 0)
      const taken = await ports.rateLimits.take(account.id, 'recipients', count, perSecond)
      if (taken !== 'taken') return taken
    }
    const screened = await screenTexts(ports, account, texts, ports.clock.now())
    const order = { account: account.id, senders: sendersOf(account, pool), texts: orderedTexts(screened) }
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
  ): Promise<FirstAnswer | 'another-request' | 'overloaded' | OverLimit> {
    const { messages, clientRequests } = ports
    // A repetition takes nothing of a rate limit.
    const found = account.recipientsPerSecond === undefined ? undefined : await clientRequests.find(request)
    if (found !== undefined) return found

    const sent = await send(account, texts, (order, screened) =>
      messages.acceptOnce(order, request, (results) =>
        answerText(resultsOf(screened, { results, balance: credits(0) })),
      ),
    )
    // None is found if it stopped to count in this moment.
    if (sent === 'repeated') return (await clientRequests.find(request)) ?? sendFirst(account, texts, request)
    if (sent === 'overloaded' || 'overLimitSeconds' in sent) return sent
    const answer = new GivenAnswer(texts, sent)
    const isAnyAccepted = sent.some((recipients) => recipients.some((recipient) => 'id' in recipient))
    return isAnyAccepted ? answer : clientRequests.keep(request, { text: answer.text, balance: answer.balance })
  }

  function sendMessages<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
  ): Promise<SendResults<To> | 'overloaded' | OverLimit>
  function sendMessages<To extends Recipient>(
    account: Account,
    texts: readonly TextToSend<To>[],
    key: IdempotencyKey | undefined,
  ): Promise<SendResults<To> | 'overloaded' | OverLimit | 'another-request'>
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

const orderedTexts = (texts: readonly ScreenedText[]): readonly OrderedText[] =>
  texts.flatMap(({ body, scheduled, recipients }) => {
    const to = recipients.filter(isPassed).map((passed) => ({ number: passed.to, cost: passed.cost }))
    return body === undefined || to.length === 0 ? [] : [{ body, due: scheduled, to }]
  })
