import type { CarrierHandlers, CarrierId, DeliveryReceipt } from '@gateway/core/dispatch'
import { idForms, inForm, otherForms, type IdForm } from './id-forms.ts'
import type { CarrierReceipt } from './read-receipt.ts'

/** Stores receipts; resolves to those that found no message. */
type Store = (receipts: readonly DeliveryReceipt[]) => Promise<readonly DeliveryReceipt[]>

export interface ReceiptCounts {
  readonly received: number
  /** Found no message, and none within a minute. */
  readonly missed: number
  /** The form of ids that is in use; undefined: not learned yet. */
  readonly form: IdForm | undefined
}

/** Finds the messages of receipts, however the carrier writes its ids in them. */
export interface ReceiptMatcher {
  /** Resolves when all are stored, to those that found no message (yet); rejects if they are not. */
  take(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]>
  counts(): ReceiptCounts
  stop(): void
}

export interface MatcherEvents {
  /** Another form than `before` fits; receipts are read in it from now on. */
  readonly adopted: (form: IdForm, before: IdForm | undefined) => void
  readonly failed: (problem: unknown) => void
  /** Keeps what was learned over a restart. */
  readonly memory: CarrierHandlers['receiptForm']
}

/** So many receipts in a row that fit in one form, number and all, are proof. */
const proof = 3
const missedMax = 5000
/**
 * When receipts that fit no message are tried again: the message may have been recorded meanwhile, by somebody else.
 * After the last time they are missed.
 */
export const retryMilliseconds: readonly number[] = [1000, 4000, 15_000, 60_000]

interface Missed {
  readonly receipt: CarrierReceipt
  readonly tries: number
  readonly at: number
}

export function createReceiptMatcher(
  carrier: CarrierId,
  given: IdForm | undefined,
  store: Store,
  events: MatcherEvents,
  retries = retryMilliseconds,
): ReceiptMatcher {
  let form = given
  let run = { form: 'as-is' as IdForm, count: 0 }
  let received = 0
  let missedCount = 0
  let missed: readonly Missed[] = []
  let timer: NodeJS.Timeout | undefined
  let recalling: Promise<void> | undefined
  /** What the store has. */
  let kept: IdForm | undefined
  /** Calls that wait for each other, and the last of them. */
  let inTurn = 0
  let turn: Promise<void> = Promise.resolve()
  /** Receipts that could not be stored while the form was not known; they belong before later ones of their ids. */
  let unlearned: readonly CarrierReceipt[] = []

  /** Before the first receipt, once; what the operator set counts more. */
  async function recall(): Promise<void> {
    if (given !== undefined || events.memory === undefined) return
    const learned = await events.memory.learned()
    form = kept = idForms.find((one) => one === learned)
  }

  /** What could not be kept is kept at the next receipt that fits. */
  function keep(fitting: IdForm): void {
    if (given !== undefined || fitting !== form || fitting === kept || events.memory === undefined) return
    kept = fitting
    events.memory.keep(fitting).catch((problem: unknown) => {
      kept = undefined
      events.failed(problem)
    })
  }

  /** An id that cannot be in the form that is known is read as it is. */
  const formOf = (id: string): IdForm => (form === undefined || inForm(id, form) === undefined ? 'as-is' : form)
  const inUse = (id: string): string => inForm(id, formOf(id)) ?? id
  /** Without the number no other form can be proved. */
  const others = ({ id, number }: CarrierReceipt) => (number === undefined ? [] : otherForms(id, inUse(id)))
  const allForms = (receipt: CarrierReceipt) => [
    { form: formOf(receipt.id), reference: inUse(receipt.id) },
    ...(given === undefined ? others(receipt) : []),
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
    if (run.count < proof || fitting === form) return
    const before = form
    form = fitting
    keep(fitting)
    if (before !== undefined || fitting !== 'as-is') events.adopted(fitting, before)
    const again = missed
    missed = []
    void settle(again.map(({ receipt }) => receipt)).catch(events.failed)
  }

  /** Offers guesses, each a form of a receipt; returns the receipts of which none fitted. */
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
    // An id that is the same in the form that is known by now says nothing for another one.
    for (const { form: fitting, receipt, offer } of found) {
      fits(form !== undefined && inForm(receipt.id, form) === offer.reference ? form : fitting)
    }
    const known = new Set(found.map(({ receipt }) => receipt))
    return receipts.filter((receipt) => !known.has(receipt))
  }

  /** In the form that is known, or as they are: what finds no message is kept by the store. */
  async function settle(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    if (receipts.length === 0) return []
    const offers = receipts.map((receipt) => receiptOf(receipt, inUse(receipt.id)))
    const misses = new Set(await store(offers))
    const used = receipts.map(({ id }) => formOf(id))
    for (const [at, offer] of offers.entries()) if (!misses.has(offer)) fits(used[at] ?? 'as-is')
    return receipts.filter((_, at) => misses.has(offers[at] as DeliveryReceipt))
  }

  const asTheyAre = ({ id, number }: CarrierReceipt) =>
    number === undefined ? [] : [{ form: 'as-is' as const, reference: id }]

  /** Until the form is known, nothing is kept in a form that may be wrong before every other was tried. */
  async function learn(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const strangers = await guess(await guess(receipts, asTheyAre))
    return remember(await settle(strangers))
  }

  async function takeKnown(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const strangers = await settle(receipts)
    return remember(given === undefined ? await guess(strangers) : strangers)
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
   * While the form is not known a receipt is stored in several steps. One call then waits for the other, so that the
   * receipts of one message are applied in their order (P-7).
   */
  async function take(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    received += receipts.length
    if (form !== undefined && inTurn === 0 && unlearned.length === 0) return takeKnown(receipts)
    inTurn++
    const taken = turn.then(() => takeInTurn(receipts))
    turn = taken.then(
      () => undefined,
      () => undefined,
    )
    return taken.finally(() => inTurn--)
  }

  function remember(strangers: readonly CarrierReceipt[]): readonly CarrierReceipt[] {
    retryLater(strangers.map((receipt) => ({ receipt, tries: 0, at: performance.now() })))
    return strangers
  }

  function retryLater(more: readonly Missed[]): void {
    const waiting = [...missed, ...more.filter(({ tries }) => tries < retries.length)]
    missed = waiting.slice(-missedMax)
    missedCount += waiting.length - missed.length + more.filter(({ tries }) => tries >= retries.length).length
    if (missed.length > 0) timer ??= setTimeout(() => void retry().catch(events.failed), retries[0])
  }

  /** The store finds what it has kept by itself: here it is known then, and not missed. */
  async function retry(): Promise<void> {
    timer = undefined
    const now = performance.now()
    const isDue = ({ tries, at }: Missed): boolean => now - at >= (retries[tries] ?? 0)
    const due = missed.filter(isDue)
    missed = missed.filter((one) => !isDue(one))
    try {
      const strangers = new Set(
        await guess(
          due.map(({ receipt }) => receipt),
          allForms,
        ),
      )
      retryLater(due.flatMap((one) => (strangers.has(one.receipt) ? [{ ...one, tries: one.tries + 1 }] : [])))
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

/** Whether a receipt is another one offered again. */
const isLike =
  ({ id, code, number }: CarrierReceipt) =>
  (other: CarrierReceipt): boolean =>
    other.id === id && other.code === code && other.number === number
