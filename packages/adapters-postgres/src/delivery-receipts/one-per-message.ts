import { countingReceipt, type DeliveryReceipt } from '@gateway/core'
import { storedReference } from './stored-reference.ts'

/** The same for receipts of one carrier that fit the same messages. */
export const receiptKey = ({ reference, number }: DeliveryReceipt): string =>
  `${storedReference(reference)} ${number ?? ''}`

/**
 * Of one carrier's receipts the one of each reference and number that counts: the first final one, else the last. In the order of their
 * references, so that two calls with the same ones never wait for each other crosswise.
 */
export function onePerMessage(receipts: readonly DeliveryReceipt[]): readonly DeliveryReceipt[] {
  const counting = new Map<string, DeliveryReceipt>()
  for (const receipt of receipts) {
    const reference = storedReference(receipt.reference)
    const key = receiptKey(receipt)
    const before = counting.get(key)
    const counts = countingReceipt(before, receipt)
    if (counts !== before) counting.set(key, reference === receipt.reference ? receipt : { ...receipt, reference })
  }
  return [...counting.values()].sort((a, b) => (a.reference < b.reference ? -1 : 1))
}
