import { countingReceipt, type DeliveryReceipt } from '@gateway/core/dispatch'

/** Key that is equal for receipts of one carrier that match the same messages. */
export const receiptKey = ({ reference, number }: DeliveryReceipt): string =>
  `${storedReference(reference)} ${number ?? ''}`

/**
 * Reduces a carrier's receipts to one for each reference and number: the first final receipt or, if none is final, the
 * last one.
 */
function onePerKey(receipts: readonly DeliveryReceipt[]): readonly DeliveryReceipt[] {
  const counting = new Map<string, DeliveryReceipt>()
  for (const receipt of receipts) {
    const key = receiptKey(receipt)
    const before = counting.get(key)
    if (countingReceipt(before, receipt) === before) continue
    counting.delete(key) // so that the map keeps the order in which the receipts arrived
    const reference = storedReference(receipt.reference)
    counting.set(key, reference === receipt.reference ? receipt : { ...receipt, reference })
  }
  return [...counting.values()]
}

const hasNumber = ({ number }: DeliveryReceipt): boolean => number !== undefined

/**
 * Selects the receipts of a carrier that count, and divides them into rounds to be applied one after the other. A round
 * has at most one receipt of a message. If some receipts of a reference have a number and one has none, they may belong
 * to one message and are therefore put into different rounds. Each round is sorted by reference, so that two calls
 * cannot deadlock.
 */
export function onePerMessage(receipts: readonly DeliveryReceipt[]): readonly (readonly DeliveryReceipt[])[] {
  const counting = onePerKey(receipts)
  const isMixed = counting.some(hasNumber) && !counting.every(hasNumber)
  return (isMixed ? inRounds(counting) : [[...counting]]).map((round) =>
    round.sort((a, b) => (a.reference < b.reference ? -1 : 1)),
  )
}

function inRounds(receipts: readonly DeliveryReceipt[]): DeliveryReceipt[][] {
  const ofReference = new Map<string, DeliveryReceipt[]>()
  for (const receipt of receipts) {
    ofReference.set(receipt.reference, [...(ofReference.get(receipt.reference) ?? []), receipt])
  }
  const rounds: DeliveryReceipt[][] = []
  for (const sameReference of ofReference.values()) {
    const isOneByOne = !sameReference.every(hasNumber)
    for (const [i, receipt] of sameReference.entries()) (rounds[isOneByOne ? i : 0] ??= []).push(receipt)
  }
  return rounds
}

const lengthMax = 255

/**
 * Returns a carrier's reference in the form in which it is stored and looked up, which is the same for messages and
 * receipts. U+0000 is replaced, because a column cannot hold it. A very long text is truncated, because an index cannot
 * hold it.
 */
export const storedReference = (reference: string): string =>
  reference.includes('\0') || reference.length > lengthMax
    ? reference.slice(0, lengthMax).replaceAll('\0', '\ufffd')
    : reference
