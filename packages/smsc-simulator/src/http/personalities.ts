import { checkField } from '../check-field.ts'
import { answerForms, type AnswerForm } from './outcomes.ts'

/** Behaviour of a simulated provider. Durations are in milliseconds. A rate of 0 means no limit. */
export interface HttpPersonality {
  /** Time from a request to its answer. */
  readonly answerDelay: number
  /** Time from a request to its answer if the outcome is `slow`. */
  readonly slowDelay: number
  /** Messages accepted per second; further ones are refused as throttled. */
  readonly acceptedPerSecond: number
  /** Number of throttled answers to a message to a number ending in 96, after which the message is accepted. */
  readonly numberRefusals: number
  /** True if numbers ending in 70 to 84 select faults of HTTP. Otherwise messages to them are delivered. */
  readonly faultsByNumber: boolean
  /** True if the account has no credit, so that every message is refused. */
  readonly hasNoCredit: boolean
  /** True if messages are neither accepted nor answered. */
  readonly ignoresMessages: boolean
  /** Form of the answer to every nth accepted message, instead of the form that the number selects. */
  readonly answerForm: AnswerForm
  /** The nth accepted messages that `answerForm` applies to. 0 means never. */
  readonly answerFormEvery: number
  /** Time from a request to its receipt, and from an answered receipt to the next one or the reply. */
  readonly receiptDelay: number
  /** True if the first receipt is sent before the answer. */
  readonly receiptFirst: boolean
  /** Number of times that each receipt is sent. */
  readonly receiptTimes: number
  /** True if every callback has a wrong signature, or comes to a wrong path. */
  readonly hasBadSignatures: boolean
  /** Time after which callbacks to numbers ending in 76 are sent again, byte for byte. */
  readonly replayDelay: number
  /** Time after which a callback that was not answered 2xx or 4xx is sent again. */
  readonly retryDelay: number
}

const ordinary: HttpPersonality = {
  answerDelay: 0,
  slowDelay: 5000,
  acceptedPerSecond: 0,
  numberRefusals: 2,
  faultsByNumber: true,
  hasNoCredit: false,
  ignoresMessages: false,
  answerForm: 'ordinary',
  answerFormEvery: 0,
  receiptDelay: 1000,
  receiptFirst: false,
  receiptTimes: 1,
  hasBadSignatures: false,
  replayDelay: 2000,
  retryDelay: 1000,
}

const everyTenth = (answerForm: AnswerForm): HttpPersonality => ({ ...ordinary, answerForm, answerFormEvery: 10 })

/** Personalities by name. All of them treat numbers ending in 70 to 98 in the same way. */
export const HTTP_PERSONALITIES = {
  default: ordinary,
  slow: { ...ordinary, answerDelay: 1000 },
  throttling: { ...ordinary, acceptedPerSecond: 20 },
  'no-credit': { ...ordinary, hasNoCredit: true },
  silent: { ...ordinary, ignoresMessages: true },
  'server-errors': everyTenth('server-error'),
  pages: everyTenth('page'),
  resets: everyTenth('reset'),
  cuts: everyTenth('cut'),
  'resets-idle': everyTenth('then-reset'),
  'receipts-first': { ...ordinary, receiptFirst: true },
  'receipts-twice': { ...ordinary, receiptTimes: 2 },
  late: { ...ordinary, receiptDelay: 3_600_000 },
  'bad-signatures': { ...ordinary, hasBadSignatures: true },
} as const satisfies Record<string, HttpPersonality>

const isName = (name: string): name is keyof typeof HTTP_PERSONALITIES => Object.hasOwn(HTTP_PERSONALITIES, name)

/**
 * Returns the named personality with changed fields. Throws an Error that lists the names, or names the wrong field.
 */
export function httpPersonality(name: string, changes: Readonly<Record<string, unknown>> = {}): HttpPersonality {
  if (!isName(name)) {
    const names = Object.keys(HTTP_PERSONALITIES).join(', ')
    throw new Error(`There is no personality ${JSON.stringify(name)}; there are ${names}.`)
  }
  for (const [field, value] of Object.entries(changes)) checkField(ordinary, { answerForm: answerForms }, field, value)
  return { ...HTTP_PERSONALITIES[name], ...changes }
}
