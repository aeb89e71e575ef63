import type { DeliveryReceiptCode } from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'

/** Treatment of a message, chosen by the last two digits of its number. */
export interface SimulatedOutcome {
  readonly answer: 'accepted' | 'refused' | 'unknown'
  /** Receipts, each sent after the previous one was acknowledged. */
  readonly receipts: readonly DeliveryReceiptCode[]
  /** Number of times that the message is temporarily refused before its answer. */
  readonly refusals: number
  /** True if the first receipt is sent before the answer. */
  readonly receiptFirst: boolean
  /** Text of the reply that follows the last acknowledged receipt; undefined if there is no reply. */
  readonly reply: string | undefined
}

const accepted = (...receipts: readonly DeliveryReceiptCode[]): SimulatedOutcome => ({
  answer: 'accepted',
  receipts,
  refusals: 0,
  receiptFirst: false,
  reply: undefined,
})

const delivered = accepted(OUTCOME.delivered)

/** Outcomes by the last two digits of the number. A message to any other number is delivered. */
const OUTCOMES: Readonly<Record<string, SimulatedOutcome>> = {
  '88': { ...delivered, reply: 'Yes, thank you' },
  '89': { ...delivered, reply: 'STOP' },
  '90': accepted(OUTCOME.undeliverable),
  '91': accepted(OUTCOME.expired),
  '92': accepted(OUTCOME.rejected),
  '93': { ...accepted(), answer: 'refused' },
  '94': accepted(),
  '95': { ...accepted(), answer: 'unknown' },
  '96': { ...delivered, refusals: 2 },
  '97': { ...delivered, receiptFirst: true },
  '98': accepted(OUTCOME.delivered, OUTCOME.undeliverable),
}

export const outcomeOf = (number: string): SimulatedOutcome => OUTCOMES[number.slice(-2)] ?? delivered
