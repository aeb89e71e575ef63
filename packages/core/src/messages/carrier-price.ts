/**
 * Price of a carrier, as the carrier names it (ruling 6.3). It has nothing to do with credits, and prices in different
 * currencies are never added.
 */
export interface CarrierPrice {
  /** Decimal number without a sign, at most 15 digits before and 15 after the point for one message. */
  readonly amount: string
  /** Code of three letters, such as USD. */
  readonly currency: string
}

/** Sum of the prices that carriers named for some messages of a send, in one currency. */
export interface CarrierPriceSum extends CarrierPrice {
  /** Number of messages with a price in this currency. */
  readonly messages: number
}
