/** When a receipt and an unknown message fit in time, in seconds; bounds themselves do not fit. */
export const adoptionWindow = {
  /** The message may be so much older than the carrier says that it was submitted: clocks differ. */
  beforeSubmittedSeconds: 300,
  /** Where the carrier does not say it: so much older than the receipt. */
  beforeReceiptSeconds: 3 * 86_400,
  /** And so much younger than either: a lost dispatcher's messages are called unknown only by recovery. */
  afterSeconds: 3600,
} as const
