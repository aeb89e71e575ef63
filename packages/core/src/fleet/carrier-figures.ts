import { callingCodeOf, type Msisdn } from '../messages/msisdn.ts'
import { isFinal, OUTCOME } from '../messages/status-code.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Submission, SubmissionAnswer } from '../dispatch/carrier.ts'
import type { DeliveryReceipt } from '../dispatch/delivery-receipt.ts'
import { createHistogram, type HistogramCounts } from './histogram.ts'

/**
 * What came of messages: delivered and failed by their receipts, one for each part; unknown and refused by the answers
 * to their submissions. An unknown one that a receipt decides later is in both.
 */
export interface OutcomeCounts {
  readonly delivered: number
  readonly failed: number
  readonly unknown: number
  readonly refused: number
}

export interface PrefixCounts extends OutcomeCounts {
  /** The calling code of the numbers; empty: a receipt told no number. */
  readonly prefix: string
}

export interface PrefixFigures {
  readonly prefix: string
  readonly hour: OutcomeCounts
  readonly day: OutcomeCounts
}

/** What came of the messages of a carrier by the country they went to, over all processes. Nothing is decided by it. */
export interface CarrierFigures {
  /** Adds to what others have counted. */
  add(carrier: CarrierId, counts: readonly PrefixCounts[]): Promise<void>
  /** Of the last hour and the last day, to five minutes; by prefix. */
  of(carrier: CarrierId): Promise<readonly PrefixFigures[]>
}

/** Counts for one carrier what is submitted and comes back. Cheap: an answer costs an addition or two. */
export interface CarrierMeter {
  answered(messages: readonly Submission[], answers: readonly SubmissionAnswer[], now: number): void
  /** Of receipts that found their messages. */
  received(receipts: readonly DeliveryReceipt[], now: number): void
  /** What was counted since it was taken last. */
  take(): readonly PrefixCounts[]
  /** What was taken could not be added. */
  putBack(counts: readonly PrefixCounts[]): void
  /** In seconds, of a sample. */
  readonly receiptDelay: () => HistogramCounts
  readonly parts: () => HistogramCounts
}

type Counts = { -readonly [Key in keyof OutcomeCounts]: number }

/** So many messages a second have their receipts timed, for an hour: what takes longer is not in the histogram. */
const sampleOfSecond = 10
const sampleMilliseconds = 3_600_000

export function createCarrierMeter(): CarrierMeter {
  const parts = createHistogram([1, 2, 3, 4, 5, 6, 7])
  const delay = createHistogram([1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600])
  let counts = new Map<string, Counts>()
  /** When the carrier took messages, by its reference, the oldest first. */
  const taken = new Map<string, number>()
  let second = { at: 0, count: 0 }

  function add(number: Msisdn | undefined, what: keyof OutcomeCounts, count = 1): void {
    addTo(number === undefined ? '' : callingCodeOf(number), what, count)
  }

  function addTo(prefix: string, what: keyof OutcomeCounts, count: number): void {
    let of = counts.get(prefix)
    if (of === undefined) counts.set(prefix, (of = { delivered: 0, failed: 0, unknown: 0, refused: 0 }))
    of[what] += count
  }

  function sample(reference: string, now: number): void {
    const at = Math.floor(now / 1000)
    if (second.at !== at) second = { at, count: 0 }
    if (second.count >= sampleOfSecond) return
    second.count++
    taken.set(reference, now)
    for (const [oldest, since] of taken) {
      if (now - since < sampleMilliseconds) return
      taken.delete(oldest)
    }
  }

  return {
    answered(messages, answers, now) {
      for (const answer of answers) {
        if (answer.outcome === 'accepted' || answer.outcome === 'partly') {
          parts.observe(1 + (answer.furtherReferences?.length ?? 0))
          if (answer.outcome === 'accepted') sample(answer.reference, now)
        }
        if (answer.outcome === 'accepted' || answer.outcome === 'refused-for-now') continue
        const what = answer.outcome === 'partly' ? 'failed' : answer.outcome
        add(messages.find(({ id }) => id === answer.id)?.to, what)
      }
    },
    received(receipts, now) {
      for (const { code, number, reference } of receipts) {
        if (!isFinal(code)) continue
        add(number, code === OUTCOME.delivered ? 'delivered' : 'failed')
        const since = taken.get(reference)
        if (since === undefined) continue
        taken.delete(reference)
        delay.observe(Math.max(0, now - since) / 1000)
      }
    },
    take() {
      const all = [...counts].map(([prefix, of]) => ({ prefix, ...of }))
      counts = new Map()
      return all
    },
    putBack(some) {
      for (const { prefix, ...of } of some) {
        for (const what of ['delivered', 'failed', 'unknown', 'refused'] as const) addTo(prefix, what, of[what])
      }
    },
    receiptDelay: delay.read,
    parts: parts.read,
  }
}
