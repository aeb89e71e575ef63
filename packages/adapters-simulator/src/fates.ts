import { OUTCOME, type DeliveryReceiptCode } from '@gateway/core'

/** What happens to a message, by the last two digits of its number. */
export interface Fate {
  readonly answer: 'accepted' | 'refused' | 'unknown'
  /** One after the other, each after the one before was acknowledged. */
  readonly receipts: readonly DeliveryReceiptCode[]
  /** So often it is refused for now before it gets its answer. */
  readonly refusals: number
  /** The first receipt comes before the answer. */
  readonly hasty: boolean
  /** What its recipient answers once the last receipt was acknowledged. */
  readonly reply: string | undefined
}

const accepted = (...receipts: readonly DeliveryReceiptCode[]): Fate => ({
  answer: 'accepted',
  receipts,
  refusals: 0,
  hasty: false,
  reply: undefined,
})

const delivered = accepted(OUTCOME.delivered)

/** Every other ending is delivered. */
const FATES: Readonly<Record<string, Fate>> = {
  '88': { ...delivered, reply: 'Yes, thank you' },
  '89': { ...delivered, reply: 'STOP' },
  '90': accepted(OUTCOME.undeliverable),
  '91': accepted(OUTCOME.expired),
  '92': accepted(OUTCOME.rejected),
  '93': { ...accepted(), answer: 'refused' },
  '94': accepted(),
  '95': { ...accepted(), answer: 'unknown' },
  '96': { ...delivered, refusals: 2 },
  '97': { ...delivered, hasty: true },
  '98': accepted(OUTCOME.delivered, OUTCOME.undeliverable),
}

export const fateOf = (number: string): Fate => FATES[number.slice(-2)] ?? delivered
