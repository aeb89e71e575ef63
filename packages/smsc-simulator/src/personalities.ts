import { COMMAND_STATUS } from '@gateway/smpp'
import type { IdForm } from './message-store.ts'

/**
 * How the server treats those that are bound. Durations are in milliseconds; a rate of 0 is no limit; every 0 is never.
 */
export interface Personality {
  /** From a submission to its answer. */
  readonly answerDelay: number
  /** So many answers a second and link, one behind the other. */
  readonly answersPerSecond: number
  /** So many submissions a second and link are taken; others are answered `refusalStatus`. */
  readonly submitsPerSecond: number
  readonly refusalStatus: number
  /** How often a message to a number that ends in 96 is refused for now before it is taken. */
  readonly numberRefusals: number
  /** From a submission to its receipt, and from an acknowledged receipt to the next one or the reply. */
  readonly receiptDelay: number
  /** So many receipts a second, one behind the other. */
  readonly receiptsPerSecond: number
  /** The first receipt is sent before the answer. */
  readonly receiptFirst: boolean
  /** How often each receipt is sent. */
  readonly receiptTimes: number
  /** Answers and receipts are delayed by up to so much more, at random. */
  readonly shuffle: number
  /** Forms of the message id in answers, and in receipts. */
  readonly idForm: IdForm
  readonly receiptIdForm: IdForm
  /** Where a receipt has its fields: in its text, in TLVs, or both. */
  readonly receiptForm: 'text' | 'tlv' | 'both'
  /** Receipts say that the state is unknown; query_sm tells it. */
  readonly receiptsUnknown: boolean
  /** Once bound, nothing is answered and nothing is sent. */
  readonly isSilent: boolean
  /** Submissions are not taken and not answered; all else is answered. */
  readonly ignoresSubmissions: boolean
  /** Every so many submissions of a link are taken, and the link closes before, or after, the answer. */
  readonly closesBeforeAnswer: number
  readonly closesAfterAnswer: number
  /** Every so many answers of a link have a wrong command_length. */
  readonly wrongLengthEvery: number
  /** Every nth PDU of a link has one to three octets behind its last field, which are no TLV. */
  readonly oddTailEvery: number
  /** How often each arrival is sent, acknowledged or not. */
  readonly arrivalTimes: number
  /** The command_status of every bind; 0: binds are answered as they deserve. */
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

/**
 * What there is to choose from. `default` treats the endings 88 to 98 as the simulated carrier does; so do the others.
 */
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

/** The named personality with other values for some of its fields. Throws an Error that says what there is. */
export function personality(name: string, changes: Readonly<Record<string, unknown>> = {}): Personality {
  if (!isName(name)) {
    throw new Error(
      `There is no personality ${JSON.stringify(name)}; there are ${Object.keys(PERSONALITIES).join(', ')}.`,
    )
  }
  for (const [field, value] of Object.entries(changes)) checkField(field, value)
  return { ...PERSONALITIES[name], ...changes }
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  idForm: ['decimal', 'hexadecimal', 'huge'],
  receiptIdForm: ['decimal', 'hexadecimal', 'huge'],
  receiptForm: ['text', 'tlv', 'both'],
}

function checkField(field: string, value: unknown): void {
  const usual: unknown = Object.hasOwn(ordinary, field) ? ordinary[field as keyof Personality] : undefined
  const isFitting =
    typeof usual === 'string'
      ? typeof value === 'string' && WORDS[field]?.includes(value) === true
      : typeof usual === typeof value && (typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0))
  if (usual === undefined) throw new Error(`A personality has no field ${JSON.stringify(field)}.`)
  if (!isFitting) throw new Error(`${field} cannot be ${JSON.stringify(value)}.`)
}
