import { countingReceipt, type DeliveryReceipt } from '@gateway/core/dispatch'

/** The same for receipts of one carrier that fit the same messages. */
export const receiptKey = ({ reference, number }: DeliveryReceipt): string =>
  `${storedReference(reference)} ${number ?? ''}`

/** Of one carrier's receipts the one of each reference and number that counts: the first final one, else the last. */
function onePerKey(receipts: readonly DeliveryReceipt[]): readonly DeliveryReceipt[] {
  const counting = new Map<string, DeliveryReceipt>()
  for (const receipt of receipts) {
    const key = receiptKey(receipt)
    const before = counting.get(key)
    if (countingReceipt(before, receipt) === before) continue
    counting.delete(key) // so that they stay in the order in which they came
    const reference = storedReference(receipt.reference)
    counting.set(key, reference === receipt.reference ? receipt : { ...receipt, reference })
  }
  return [...counting.values()]
}

const tellsNumber = ({ number }: DeliveryReceipt): boolean => number !== undefined

/**
 * Of one carrier's receipts those that count, in rounds of which each has at most one of a message, to be applied one
 * after the other: where some of one reference tell a number and one tells none, they may be of one message. Each round
 * is in the order of references, so that two calls with the same ones never wait for each other crosswise.
 */
export function onePerMessage(receipts: readonly DeliveryReceipt[]): readonly (readonly DeliveryReceipt[])[] {
  const counting = onePerKey(receipts)
  const isMixed = counting.some(tellsNumber) && !counting.every(tellsNumber)
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
  for (const its of ofReference.values()) {
    const isOneByOne = !its.every(tellsNumber)
    for (const [i, receipt] of its.entries()) (rounds[isOneByOne ? i : 0] ??= []).push(receipt)
  }
  return rounds
}

const lengthMax = 255

/**
 * A carrier's reference as it is stored and looked for. What a column cannot hold (U+0000) and what an index cannot
 * hold (a very long text) is replaced or cut the same way in a record and in a receipt, so that they still meet.
 */
export const storedReference = (reference: string): string =>
  reference.includes('\0') || reference.length > lengthMax
    ? reference.slice(0, lengthMax).replaceAll('\0', '\ufffd')
    : reference
