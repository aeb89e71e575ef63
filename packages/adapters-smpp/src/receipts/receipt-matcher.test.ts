import type { DeliveryReceipt } from '@gateway/core/dispatch'
import { aCarrierId, aNumber, until } from '@gateway/core/testing'
import type { IdForm } from './id-forms.ts'
import type { CarrierReceipt } from './read-receipt.ts'
import { ReceiptMatcher } from './receipt-matcher.ts'

const receiptOf = (id: string): CarrierReceipt => ({
  ...{ id, code: 0, number: aNumber('27825550101'), submitted: undefined },
})

/** Creates a matcher over a store that knows these references and keeps receipts that are not guesses. */
function matcherOf(form: IdForm | undefined, known: Set<string>) {
  const keptReceipts: DeliveryReceipt[] = []
  const store = (some: readonly DeliveryReceipt[]) => {
    const strangers = some.filter(({ reference }) => !known.has(reference))
    keptReceipts.push(...strangers.filter(({ isGuess }) => isGuess !== true))
    return Promise.resolve(strangers)
  }
  const events = { adopted: () => undefined, failed: () => undefined, memory: undefined }
  return { matcher: new ReceiptMatcher(aCarrierId('a'), form, store, events, [20, 60]), keptReceipts }
}

test.each<[IdForm | undefined]>([[undefined], ['as-is'], ['hex']])(
  'with the form %s only receipts that never match a message count as missed, and each is kept once',
  async (form) => {
    const known = new Set<string>()
    const { matcher, keptReceipts } = matcherOf(form, known)
    await matcher.take(['255', '256', '257'].map(receiptOf))
    expect(matcher.counts()).toMatchObject({ received: 3, missed: 0 })
    // Records the messages of two receipts a moment later.
    for (const reference of form === 'hex' ? ['ff', '100'] : ['255', '256']) known.add(reference)
    await until(() => matcher.counts().missed > 0)
    expect(matcher.counts()).toMatchObject({ received: 3, missed: 1 })
    expect(keptReceipts).toHaveLength(3)
    matcher.stop()
  },
)

test('ids without a letter do not change the learned letter case', async () => {
  const ids = Array.from({ length: 20 }, (_, at) => 0x10000000 + at)
  const { matcher } = matcherOf(undefined, new Set(ids.map((id) => id.toString(16).toUpperCase())))
  await matcher.take(ids.map((id) => receiptOf(String(id))))
  expect(matcher.counts()).toMatchObject({ received: 20, missed: 0, form: 'HEX' })
  matcher.stop()
})

test.each(
  [0, 1, 2, 3, 4].flatMap((failing) => [
    [failing, 'one after the other'] as const,
    [failing, 'at the same time'] as const,
  ]),
)(
  'call %i to the store fails, the form is not known, and two receipts of a message come %s: the first counts (P-7)',
  async (failing, how) => {
    const applied: number[] = []
    let calls = 0
    const store = async (some: readonly DeliveryReceipt[]) => {
      const isFailing = calls++ === failing
      await Promise.resolve()
      if (isFailing) throw new Error('away')
      const found = some.filter(({ reference }) => reference === 'FF')
      applied.push(...found.map(({ code }) => code))
      return some.filter((one) => !found.includes(one))
    }
    const events = { adopted: () => undefined, failed: () => undefined, memory: undefined }
    const matcher = new ReceiptMatcher(aCarrierId('a'), undefined, store, events, [60_000])
    const [first, second] = [receiptOf('255'), { ...receiptOf('255'), code: 103 as const }]
    const offer = (receipt: CarrierReceipt) => matcher.take([receipt]).catch(() => undefined)
    const offered = [offer(first)]
    if (how === 'one after the other') await offered[0]
    offered.push(offer(second))
    await Promise.all(offered)
    // Offers the failed receipts again, the later receipt first.
    await offer(second)
    await offer(first)
    expect([applied[0], matcher.counts().form === undefined || matcher.counts().form === 'HEX']).toEqual([0, true])
    matcher.stop()
  },
)
