import type { CarrierHandlers, CarrierId, DeliveryReceipt } from '@gateway/core/dispatch'
import { idForms, inForm, otherForms, type IdForm } from './id-forms.ts'
import type { CarrierReceipt } from './read-receipt.ts'

/** Stores receipts and resolves to those without a message. */
type Store = (receipts: readonly DeliveryReceipt[]) => Promise<readonly DeliveryReceipt[]>

export interface ReceiptCounts {
  readonly received: number
  /** Receipts for which no message was found within a minute. */
  readonly missed: number
  /** Form of ids in use; undefined until it is learned. */
  readonly form: IdForm | undefined
}

/** Matches receipts to messages and learns the form in which the carrier writes ids in receipts. */
export interface ReceiptMatcher {
  /** Stores receipts. Resolves to those without a message so far; rejects if the store fails. */
  take(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]>
  counts(): ReceiptCounts
  stop(): void
}

export interface MatcherEvents {
  /** Another form than `before` was proved; receipts are read in this form from now on. */
  readonly adopted: (form: IdForm, before: IdForm | undefined) => void
  readonly failed: (problem: unknown) => void
  /** Keeps the learned form across restarts. */
  readonly memory: CarrierHandlers['receiptForm']
}

/** Number of consecutive receipts whose id and number must fit in a form to prove it. */
const proofCount = 3
/** Maximum number of receipts that wait to be retried. */
const missedMax = 5000
/**
 * Waits before receipts without a message are retried, because another process may record the message meanwhile. After
 * the last retry a receipt counts as missed.
 */
export const retryMilliseconds: readonly number[] = [1000, 4000, 15_000, 60_000]

interface Missed {
  readonly receipt: CarrierReceipt
  readonly tries: number
  readonly at: number
}

export function createReceiptMatcher(
  carrier: CarrierId,
  configured: IdForm | undefined,
  store: Store,
  events: MatcherEvents,
  retries = retryMilliseconds,
): ReceiptMatcher {
  let form = configured
  let run = { form: 'as-is' as IdForm, count: 0 }
  let received = 0
  let missedCount = 0
  let missed: readonly Missed[] = []
  let timer: NodeJS.Timeout | undefined
  let recalling: Promise<void> | undefined
  /** Form that the store has. */
  let storedForm: IdForm | undefined
  /** Number of queued calls. */
  let queued = 0
  /** Settles when the last queued call has ended. */
  let lastCall: Promise<void> = Promise.resolve()
  /** Receipts whose storing failed before the form was known; they are stored before later receipts of their ids. */
  let unlearned: readonly CarrierReceipt[] = []

  /** Reads the learned form from the store, once before the first receipt, unless the operator set a form. */
  async function recall(): Promise<void> {
    if (configured !== undefined || events.memory === undefined) return
    const learned = await events.memory.learned()
    form = storedForm = idForms.find((one) => one === learned)
  }

  /** Stores the learned form. If that fails, the next receipt that fits tries again. */
  function keep(fitting: IdForm): void {
    if (configured !== undefined || fitting !== form || fitting === storedForm || events.memory === undefined) return
    storedForm = fitting
    events.memory.keep(fitting).catch((problem: unknown) => {
      storedForm = undefined
      events.failed(problem)
    })
  }

  /** Returns the form in which an id is read: the known form, or `as-is` if the id does not fit it. */
  const formOf = (id: string): IdForm => (form === undefined || inForm(id, form) === undefined ? 'as-is' : form)
  const inUse = (id: string): string => inForm(id, formOf(id)) ?? id
  /** Returns the other forms of an id. Without the recipient's number there are none, because they cannot be proved. */
  const others = ({ id, number }: CarrierReceipt) => (number === undefined ? [] : otherForms(id, inUse(id)))
  const allForms = (receipt: CarrierReceipt) => [
    { form: formOf(receipt.id), reference: inUse(receipt.id) },
    ...(configured === undefined ? others(receipt) : []),
  ]
  const receiptOf = (
    { code, number, submitted, isByTextAlone = false }: CarrierReceipt,
    reference: string,
  ): DeliveryReceipt => ({
    carrier,
    reference,
    code,
    number,
    submitted,
    ...(isByTextAlone && { isGuess: true }),
  })

  function fits(fitting: IdForm): void {
    run = { form: fitting, count: run.form === fitting ? run.count + 1 : 1 }
    keep(fitting)
    if (run.count < proofCount || fitting === form) return
    const before = form
    form = fitting
    keep(fitting)
    if (before !== undefined || fitting !== 'as-is') events.adopted(fitting, before)
    const again = missed
    missed = []
    void settle(again.map(({ receipt }) => receipt)).catch(events.failed)
  }

  /** Stores receipts in each of the forms as guesses; resolves to the receipts for which no form fitted. */
  async function guess(receipts: readonly CarrierReceipt[], formsOf = others) {
    const guesses = receipts.flatMap((receipt) =>
      formsOf(receipt).map((one) => ({
        receipt,
        form: one.form,
        offer: { ...receiptOf(receipt, one.reference), isGuess: true },
      })),
    )
    if (guesses.length === 0) return receipts
    const misses = new Set(await store(guesses.map(({ offer }) => offer)))
    const found = guesses.filter(({ offer }) => !misses.has(offer))
    // An id that reads the same in the known form is no evidence for another form.
    for (const { form: fitting, receipt, offer } of found) {
      fits(form !== undefined && inForm(receipt.id, form) === offer.reference ? form : fitting)
    }
    const known = new Set(found.map(({ receipt }) => receipt))
    return receipts.filter((receipt) => !known.has(receipt))
  }

  /** Stores receipts in the known form, or unchanged. The store keeps those without a message; resolves to these. */
  async function settle(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    if (receipts.length === 0) return []
    const offers = receipts.map((receipt) => receiptOf(receipt, inUse(receipt.id)))
    const misses = new Set(await store(offers))
    const used = receipts.map(({ id }) => formOf(id))
    for (const [at, offer] of offers.entries()) if (!misses.has(offer)) fits(used[at] ?? 'as-is')
    return receipts.filter((_, at) => misses.has(offers[at] as DeliveryReceipt))
  }

  const unchanged = ({ id, number }: CarrierReceipt) =>
    number === undefined ? [] : [{ form: 'as-is' as const, reference: id }]

  /** Tries every form before the store keeps a receipt, because the form is not known yet. */
  async function learn(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const unmatched = await guess(await guess(receipts, unchanged))
    return remember(await settle(unmatched))
  }

  async function takeKnown(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const unmatched = await settle(receipts)
    return remember(configured === undefined ? await guess(unmatched) : unmatched)
  }

  async function takeInTurn(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const ids = new Set(receipts.map(({ id }) => id))
    const earlier = unlearned.filter(({ id }) => ids.has(id)).map((one) => receipts.find(isLike(one)) ?? one)
    const all = [...new Set([...earlier, ...receipts])]
    unlearned = unlearned.filter(({ id }) => !ids.has(id))
    try {
      recalling ??= recall()
      await recalling
      return await (form === undefined ? learn(all) : takeKnown(all))
    } catch (problem) {
      recalling = form === undefined ? undefined : recalling
      unlearned = [...unlearned, ...all].slice(-missedMax)
      throw problem
    }
  }

  /**
   * Stores receipts. Until the form is known, storing takes several steps, so calls are queued: the receipts of one
   * message are applied in their order (P-7).
   */
  async function take(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    received += receipts.length
    if (form !== undefined && queued === 0 && unlearned.length === 0) return takeKnown(receipts)
    queued++
    const stored = lastCall.then(() => takeInTurn(receipts))
    lastCall = stored.then(
      () => undefined,
      () => undefined,
    )
    return stored.finally(() => queued--)
  }

  /** Schedules retries of receipts without a message. */
  function remember(unmatched: readonly CarrierReceipt[]): readonly CarrierReceipt[] {
    retryLater(unmatched.map((receipt) => ({ receipt, tries: 0, at: performance.now() })))
    return unmatched
  }

  function retryLater(more: readonly Missed[]): void {
    const waiting = [...missed, ...more.filter(({ tries }) => tries < retries.length)]
    missed = waiting.slice(-missedMax)
    missedCount += waiting.length - missed.length + more.filter(({ tries }) => tries >= retries.length).length
    if (missed.length > 0) timer ??= setTimeout(() => void retry().catch(events.failed), retries[0])
  }

  /**
   * Retries receipts without a message. The store may have matched a kept receipt itself, which counts as found here.
   */
  async function retry(): Promise<void> {
    timer = undefined
    const now = performance.now()
    const isDue = ({ tries, at }: Missed): boolean => now - at >= (retries[tries] ?? 0)
    const due = missed.filter(isDue)
    missed = missed.filter((one) => !isDue(one))
    try {
      const unmatched = new Set(
        await guess(
          due.map(({ receipt }) => receipt),
          allForms,
        ),
      )
      retryLater(due.flatMap((one) => (unmatched.has(one.receipt) ? [{ ...one, tries: one.tries + 1 }] : [])))
    } catch (problem) {
      retryLater(due)
      throw problem
    }
  }

  return {
    take,
    counts: () => ({ received, missed: missedCount, form }),
    stop: () => clearTimeout(timer),
  }
}

/** Returns a test for receipts equal to this one, which the carrier has offered again. */
const isLike =
  ({ id, code, number }: CarrierReceipt) =>
  (other: CarrierReceipt): boolean =>
    other.id === id && other.code === code && other.number === number
