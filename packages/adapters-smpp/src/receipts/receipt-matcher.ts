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

export interface MatcherEvents {
  /** Reports that another form than `before` was proved; receipts are read in this form from now on. */
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

/** Returns the forms in which the id of a receipt is tried. */
type FormsOf = (receipt: CarrierReceipt) => readonly { readonly form: IdForm; readonly reference: string }[]

interface Missed {
  readonly receipt: CarrierReceipt
  readonly tries: number
  readonly at: number
}

/**
 * Matches receipts to messages and learns the form in which the carrier writes ids in receipts.
 *
 *   form unknown --three receipts in a row fit in one--> known --three in a row fit in another--> another is known
 *
 * A form that the operator configured is never learned. A receipt without a message is retried, because another process
 * may record the message meanwhile:
 *
 *   stored --message found--> done
 *     +--no message--> missed --1 s, 4 s, 15 s, 60 s later, in every form--> done, or counted as missed
 */
export class ReceiptMatcher {
  readonly #carrier: CarrierId
  readonly #configured: IdForm | undefined
  readonly #store: Store
  readonly #events: MatcherEvents
  readonly #retries: readonly number[]
  #form: IdForm | undefined
  /** Form in which the last receipts found their messages, and the number of receipts in a row that did so. */
  #run = { form: 'as-is' as IdForm, count: 0 }
  #received = 0
  #missedCount = 0
  #missed: readonly Missed[] = []
  #timer: NodeJS.Timeout | undefined
  #recalling: Promise<void> | undefined
  /** Form of ids that is stored in the database. */
  #storedForm: IdForm | undefined
  /** Number of queued calls. */
  #queued = 0
  /** Settles when the last queued call has ended. */
  #lastCall: Promise<void> = Promise.resolve()
  /**
   * Receipts that a queued call failed to store; calls are queued while the form of ids is unknown. They are stored
   * before later receipts with the same ids.
   */
  #unlearned: readonly CarrierReceipt[] = []

  constructor(
    carrier: CarrierId,
    configured: IdForm | undefined,
    store: Store,
    events: MatcherEvents,
    retries = retryMilliseconds,
  ) {
    this.#carrier = carrier
    this.#configured = this.#form = configured
    this.#store = store
    this.#events = events
    this.#retries = retries
  }

  counts(): ReceiptCounts {
    return { received: this.#received, missed: this.#missedCount, form: this.#form }
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /**
   * Stores receipts. Resolves to those without a message so far; rejects if the store fails. Until the form is known,
   * storing takes several steps, so calls are queued: the receipts of one message are applied in their order (P-7).
   */
  async take(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    this.#received += receipts.length
    if (this.#form !== undefined && this.#queued === 0 && this.#unlearned.length === 0) return this.#takeKnown(receipts)
    this.#queued++
    const stored = this.#lastCall.then(() => this.#takeInTurn(receipts))
    this.#lastCall = stored.then(
      () => undefined,
      () => undefined,
    )
    return stored.finally(() => this.#queued--)
  }

  async #takeInTurn(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const ids = new Set(receipts.map(({ id }) => id))
    const isOfTheseIds = ({ id }: CarrierReceipt): boolean => ids.has(id)
    const earlier = this.#unlearned.filter(isOfTheseIds).map((one) => receipts.find(isLike(one)) ?? one)
    const all = [...new Set([...earlier, ...receipts])]
    this.#unlearned = this.#unlearned.filter((one) => !isOfTheseIds(one))
    try {
      this.#recalling ??= this.#recall()
      await this.#recalling
      return await (this.#form === undefined ? this.#learn(all) : this.#takeKnown(all))
    } catch (problem) {
      this.#recalling = this.#form === undefined ? undefined : this.#recalling
      this.#unlearned = [...this.#unlearned, ...all].slice(-missedMax)
      throw problem
    }
  }

  async #takeKnown(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const unmatched = await this.#settle(receipts)
    return this.#remember(this.#configured === undefined ? await this.#guess(unmatched) : unmatched)
  }

  /** Tries every form before the store keeps a receipt, because the form is not known yet. */
  async #learn(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    const unmatched = await this.#guess(await this.#guess(receipts, unchanged))
    return this.#remember(await this.#settle(unmatched))
  }

  /**
   * Stores receipts with their ids in the known form, or unchanged if no form is known. The store keeps receipts
   * without a message. Resolves to those receipts.
   */
  async #settle(receipts: readonly CarrierReceipt[]): Promise<readonly CarrierReceipt[]> {
    if (receipts.length === 0) return []
    const offers = receipts.map((receipt) => this.#receiptOf(receipt, this.#inUse(receipt.id)))
    const misses = new Set(await this.#store(offers))
    const used = receipts.map(({ id }) => this.#formOf(id))
    for (const [at, offer] of offers.entries()) if (!misses.has(offer)) this.#fits(used[at] ?? 'as-is')
    return receipts.filter((_, at) => misses.has(offers[at] as DeliveryReceipt))
  }

  /**
   * Stores receipts as guesses, with their ids in each of the forms. Resolves to the receipts for which no form fitted.
   */
  async #guess(
    receipts: readonly CarrierReceipt[],
    formsOf: FormsOf = (receipt) => this.#others(receipt),
  ): Promise<readonly CarrierReceipt[]> {
    const guesses = receipts.flatMap((receipt) =>
      formsOf(receipt).map((one) => ({
        receipt,
        form: one.form,
        offer: { ...this.#receiptOf(receipt, one.reference), isGuess: true },
      })),
    )
    if (guesses.length === 0) return receipts
    const misses = new Set(await this.#store(guesses.map(({ offer }) => offer)))
    const found = guesses.filter(({ offer }) => !misses.has(offer))
    for (const { form: fitting, receipt, offer } of found) {
      const form = this.#form
      // If an id is the same in the known form and in another form, it does not prove the other form.
      this.#fits(form !== undefined && inForm(receipt.id, form) === offer.reference ? form : fitting)
    }
    const known = new Set(found.map(({ receipt }) => receipt))
    return receipts.filter((receipt) => !known.has(receipt))
  }

  #receiptOf({ code, number, submitted, isByTextAlone = false }: CarrierReceipt, reference: string): DeliveryReceipt {
    const receipt = { carrier: this.#carrier, reference, code, number, submitted }
    return isByTextAlone ? { ...receipt, isGuess: true } : receipt
  }

  // Forms of ids

  /** Returns the form in which an id is read: the known form, or `as-is` if the id does not fit it. */
  #formOf(id: string): IdForm {
    return this.#form === undefined || inForm(id, this.#form) === undefined ? 'as-is' : this.#form
  }

  #inUse(id: string): string {
    return inForm(id, this.#formOf(id)) ?? id
  }

  /**
   * Returns the other forms of an id. Returns none without the recipient's number, because no form could be proved
   * then.
   */
  #others({ id, number }: CarrierReceipt): ReturnType<FormsOf> {
    return number === undefined ? [] : otherForms(id, this.#inUse(id))
  }

  #allForms = (receipt: CarrierReceipt): ReturnType<FormsOf> => [
    { form: this.#formOf(receipt.id), reference: this.#inUse(receipt.id) },
    ...(this.#configured === undefined ? this.#others(receipt) : []),
  ]

  #fits(fitting: IdForm): void {
    this.#run = { form: fitting, count: this.#run.form === fitting ? this.#run.count + 1 : 1 }
    this.#keep(fitting)
    if (this.#run.count < proofCount || fitting === this.#form) return
    const before = this.#form
    this.#form = fitting
    this.#keep(fitting)
    if (before !== undefined || fitting !== 'as-is') this.#events.adopted(fitting, before)
    const again = this.#missed
    this.#missed = []
    void this.#settle(again.map(({ receipt }) => receipt)).catch(this.#events.failed)
  }

  /** Reads the learned form from the store, once before the first receipt, unless the operator set a form. */
  async #recall(): Promise<void> {
    if (this.#configured !== undefined || this.#events.memory === undefined) return
    const learned = await this.#events.memory.learned()
    this.#form = this.#storedForm = idForms.find((one) => one === learned)
  }

  /** Stores the learned form. If that fails, the next receipt that fits tries again. */
  #keep(fitting: IdForm): void {
    const { memory, failed } = this.#events
    const isNews = fitting === this.#form && fitting !== this.#storedForm
    if (this.#configured !== undefined || !isNews || memory === undefined) return
    this.#storedForm = fitting
    memory.keep(fitting).catch((problem: unknown) => {
      this.#storedForm = undefined
      failed(problem)
    })
  }

  // Receipts without a message

  /** Schedules retries of receipts without a message. */
  #remember(unmatched: readonly CarrierReceipt[]): readonly CarrierReceipt[] {
    this.#retryLater(unmatched.map((receipt) => ({ receipt, tries: 0, at: performance.now() })))
    return unmatched
  }

  #retryLater(more: readonly Missed[]): void {
    const mayRetry = ({ tries }: Missed): boolean => tries < this.#retries.length
    const waiting = [...this.#missed, ...more.filter(mayRetry)]
    this.#missed = waiting.slice(-missedMax)
    this.#missedCount += waiting.length - this.#missed.length + more.filter((one) => !mayRetry(one)).length
    if (this.#missed.length === 0) return
    this.#timer ??= setTimeout(() => void this.#retry().catch(this.#events.failed), this.#retries[0])
  }

  /** Retries receipts without a message. A kept receipt that the store has matched by itself counts as found. */
  async #retry(): Promise<void> {
    this.#timer = undefined
    const now = performance.now()
    const isDue = ({ tries, at }: Missed): boolean => now - at >= (this.#retries[tries] ?? 0)
    const due = this.#missed.filter(isDue)
    this.#missed = this.#missed.filter((one) => !isDue(one))
    try {
      const receipts = due.map(({ receipt }) => receipt)
      const unmatched = new Set(await this.#guess(receipts, this.#allForms))
      this.#retryLater(due.flatMap((one) => (unmatched.has(one.receipt) ? [{ ...one, tries: one.tries + 1 }] : [])))
    } catch (problem) {
      this.#retryLater(due)
      throw problem
    }
  }
}

const unchanged: FormsOf = ({ id, number }) => (number === undefined ? [] : [{ form: 'as-is', reference: id }])

/** Returns a test for receipts equal to this one, which the carrier has offered again. */
const isLike =
  ({ id, code, number }: CarrierReceipt) =>
  (other: CarrierReceipt): boolean =>
    other.id === id && other.code === code && other.number === number
