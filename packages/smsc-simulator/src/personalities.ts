import { COMMAND_STATUS } from '@gateway/smpp'
import { checkField } from './check-field.ts'
import type { IdForm } from './message-store.ts'

/**
 * Behaviour of the server. Durations are in milliseconds. A rate of 0 means no limit; "every 0th" means never.
 */
export interface Personality {
  /** Time from a submission to its response. */
  readonly answerDelay: number
  /** Responses per second on one link, sent one after another. */
  readonly answersPerSecond: number
  /** Submissions accepted per second on one link; further ones are refused with `refusalStatus`. */
  readonly submitsPerSecond: number
  readonly refusalStatus: number
  /** Number of temporary refusals of a message to a number ending in 96, after which the message is accepted. */
  readonly numberRefusals: number
  /** Time from a submission to its receipt, and from an acknowledged receipt to the next one or the reply. */
  readonly receiptDelay: number
  /** Receipts per second, sent one after another. */
  readonly receiptsPerSecond: number
  /** True if the first receipt is sent before the response. */
  readonly receiptFirst: boolean
  /** Number of times that each receipt is sent. */
  readonly receiptTimes: number
  /** Maximum random delay in addition to the delay of each response and receipt. */
  readonly shuffle: number
  /** Form of the message id in responses. */
  readonly idForm: IdForm
  /** Form of the message id in receipts. */
  readonly receiptIdForm: IdForm
  /** Place of the fields of a receipt: its text, TLVs, or both. */
  readonly receiptForm: 'text' | 'tlv' | 'both'
  /** True if receipts report the state UNKNOWN. query_sm still reports the actual state. */
  readonly receiptsUnknown: boolean
  /** True if a bound link gets no responses and no requests. */
  readonly isSilent: boolean
  /** True if submissions get no response and have no effect. All other requests are answered. */
  readonly ignoresSubmissions: boolean
  /** Accepts every nth submission, but closes the link instead of sending the response. 0 means never. */
  readonly closesBeforeAnswer: number
  /** Closes the link after every nth response. 0 means never. */
  readonly closesAfterAnswer: number
  /** Every nth response of a link has a wrong command_length. */
  readonly wrongLengthEvery: number
  /** Every nth PDU of a link has one to three octets after its last field that are not a TLV. */
  readonly oddTailEvery: number
  /** Number of times that each arrival is sent, acknowledged or not. */
  readonly arrivalTimes: number
  /** command_status with which every bind is answered. 0 means that credentials decide. */
  readonly bindStatus: number
}

const ordinary: Personality = {
  answerDelay: 0,
  answersPerSecond: 0,
  submitsPerSecond: 0,
  refusalStatus: COMMAND_STATUS.ESME_RTHROTTLED,
  numberRefusals: 2,
  receiptDelay: 1000,
  receiptsPerSecond: 0,
  receiptFirst: false,
  receiptTimes: 1,
  shuffle: 0,
  idForm: 'decimal',
  receiptIdForm: 'decimal',
  receiptForm: 'both',
  receiptsUnknown: false,
  isSilent: false,
  ignoresSubmissions: false,
  closesBeforeAnswer: 0,
  closesAfterAnswer: 0,
  wrongLengthEvery: 0,
  oddTailEvery: 0,
  arrivalTimes: 1,
  bindStatus: 0,
}

/** Personalities by name. All of them treat numbers ending in 88 to 98 as the gateway's simulated carrier does. */
export const PERSONALITIES = {
  default: ordinary,
  slow: { ...ordinary, answersPerSecond: 1 },
  throttling: { ...ordinary, submitsPerSecond: 20 },
  'queue-full': { ...ordinary, submitsPerSecond: 20, refusalStatus: COMMAND_STATUS.ESME_RMSGQFUL },
  'refused-numbers': { ...ordinary, numberRefusals: 1_000_000 },
  'receipts-first': { ...ordinary, receiptFirst: true },
  'receipts-twice': { ...ordinary, receiptTimes: 2 },
  shuffled: { ...ordinary, shuffle: 500 },
  late: { ...ordinary, receiptDelay: 3_600_000 },
  'slow-receipts': { ...ordinary, receiptsPerSecond: 1 },
  'unknown-receipts': { ...ordinary, receiptsUnknown: true },
  'hexadecimal-ids': { ...ordinary, idForm: 'hexadecimal', receiptIdForm: 'hexadecimal' },
  'huge-ids': { ...ordinary, idForm: 'huge', receiptIdForm: 'huge' },
  'decimal-receipts': { ...ordinary, idForm: 'hexadecimal', receiptIdForm: 'decimal', receiptForm: 'text' },
  'half-open': { ...ordinary, isSilent: true },
  'answers-binds-only': { ...ordinary, ignoresSubmissions: true },
  'closes-before-answer': { ...ordinary, closesBeforeAnswer: 10 },
  'closes-after-answer': { ...ordinary, closesAfterAnswer: 10 },
  'wrong-lengths': { ...ordinary, wrongLengthEvery: 10 },
  'odd-tails': { ...ordinary, oddTailEvery: 2 },
  'resends-arrivals': { ...ordinary, arrivalTimes: 3 },
  'refuses-binds': { ...ordinary, bindStatus: COMMAND_STATUS.ESME_RBINDFAIL },
} as const satisfies Record<string, Personality>

export type PersonalityName = keyof typeof PERSONALITIES

const isName = (name: string): name is PersonalityName => Object.hasOwn(PERSONALITIES, name)

/**
 * Returns the named personality with changed fields. Throws an Error that lists the names, or names the wrong field.
 */
export function personality(name: string, changes: Readonly<Record<string, unknown>> = {}): Personality {
  if (!isName(name)) {
    throw new Error(
      `There is no personality ${JSON.stringify(name)}; there are ${Object.keys(PERSONALITIES).join(', ')}.`,
    )
  }
  for (const [field, value] of Object.entries(changes)) checkField(ordinary, WORDS, field, value)
  return { ...PERSONALITIES[name], ...changes }
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  idForm: ['decimal', 'hexadecimal', 'huge'],
  receiptIdForm: ['decimal', 'hexadecimal', 'huge'],
  receiptForm: ['text', 'tlv', 'both'],
}
