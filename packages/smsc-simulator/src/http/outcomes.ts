import type { ProviderRefusal, ReportedState } from './providers/provider.ts'

/**
 * Form of an answer. `none`: the client waits in vain. `server-error`: 503. `page`: an HTML page with 200, as of a
 * proxy. `without-id`: a JSON document without an id. `reset`: the connection is reset before the first byte of the
 * answer. `cut`: it is reset after the first bytes. `then-reset`: it is reset right after the whole answer, so that the
 * next request on it fails.
 */
export const answerForms = [
  ...(['ordinary', 'slow', 'gzip', 'chunked', 'none', 'server-error', 'page', 'without-id'] as const),
  ...(['reset', 'cut', 'then-reset'] as const),
] as const

export type AnswerForm = (typeof answerForms)[number]

/** Answer and receipts that a message gets. */
export interface HttpOutcome {
  /** Why the message is refused. Undefined: it is accepted. */
  readonly refusal: ProviderRefusal | undefined
  /** False if the message is answered without being accepted or refused, as by a proxy. */
  readonly isAccepted: boolean
  readonly answer: AnswerForm
  /** Receipts, each sent after the previous one was answered with 2xx. */
  readonly receipts: readonly ReportedState[]
  /** True if the message is refused as throttled twice before it is accepted. */
  readonly isThrottledFirst: boolean
  /** True if the first receipt is sent before the answer. */
  readonly receiptFirst: boolean
  /** Number of times that each receipt is sent. */
  readonly receiptTimes: number
  /** True if a receipt `undelivered` with a wrong signature is sent before the right ones. */
  readonly isForgedFirst: boolean
  /** True if every callback is sent again later, byte for byte. */
  readonly isReplayed: boolean
  /** Text of the reply after the last receipt, if there is one. */
  readonly reply: string | undefined
}

const delivered: HttpOutcome = {
  refusal: undefined,
  isAccepted: true,
  answer: 'ordinary',
  receipts: ['delivered'],
  isThrottledFirst: false,
  receiptFirst: false,
  receiptTimes: 1,
  isForgedFirst: false,
  isReplayed: false,
  reply: undefined,
}

const refused = (refusal: ProviderRefusal): HttpOutcome => ({ ...delivered, refusal, isAccepted: false, receipts: [] })
const answered = (answer: AnswerForm): HttpOutcome => ({ ...delivered, answer })
const notAccepted = (answer: AnswerForm): HttpOutcome => ({ ...answered(answer), isAccepted: false, receipts: [] })

/**
 * Outcomes by the last two digits of the number. 88 to 98 have the meaning that they have in the gateway's simulated
 * carrier and in `gateway-smsc`. Any other number is delivered.
 */
const outcomes: Readonly<Record<string, HttpOutcome>> = {
  '70': answered('slow'),
  '71': answered('server-error'),
  '72': notAccepted('page'),
  '73': answered('without-id'),
  '74': { ...delivered, receiptTimes: 2 },
  '75': { ...delivered, isForgedFirst: true },
  '76': { ...delivered, isReplayed: true, reply: 'Yes, thank you' },
  '77': answered('gzip'),
  '78': answered('chunked'),
  '79': notAccepted('reset'),
  '80': answered('cut'),
  '81': answered('then-reset'),
  '82': refused('opted-out'),
  '83': refused('no-credit'),
  '84': answered('none'),
  '88': { ...delivered, reply: 'Yes, thank you' },
  '89': { ...delivered, reply: 'STOP' },
  '90': { ...delivered, receipts: ['undelivered'] },
  '91': { ...delivered, receipts: ['expired'] },
  '92': { ...delivered, receipts: ['rejected'] },
  '93': refused('invalid-number'),
  '94': { ...delivered, receipts: [] },
  '95': { ...delivered, receipts: [], answer: 'none' },
  '96': { ...delivered, isThrottledFirst: true },
  '97': { ...delivered, receiptFirst: true },
  '98': { ...delivered, receipts: ['delivered', 'undelivered'] },
}

/** Returns the outcome of a message to this number. Without `hasFaults`, numbers ending in 70 to 84 are delivered. */
export function httpOutcomeOf(number: string, hasFaults = true): HttpOutcome {
  const ending = number.slice(-2)
  return (hasFaults || Number(ending) > 84 ? outcomes[ending] : undefined) ?? delivered
}
