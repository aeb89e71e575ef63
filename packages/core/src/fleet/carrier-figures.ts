import { callingCodeOf, type Msisdn } from '../messages/msisdn.ts'
import { isFinal, OUTCOME } from '../messages/status-code.ts'
import type { Submission, SubmissionAnswer } from '../dispatch/carrier.ts'
import type { DeliveryReceipt } from '../dispatch/delivery-receipt.ts'
import { createHistogram, type HistogramCounts } from './histogram.ts'

/**
 * Counts of outcomes of messages. `delivered` and `failed` count receipts, one for each part of a message. `unknown`
 * and `refused` count answers to submissions. A message whose outcome was unknown until a receipt arrived is counted
 * twice: as `unknown` and by its receipt.
 */
export interface OutcomeCounts {
  readonly delivered: number
  readonly failed: number
  readonly unknown: number
  readonly refused: number
}

export interface PrefixCounts extends OutcomeCounts {
  /** Calling code of the numbers; empty for receipts without a number. */
  readonly prefix: string
}

export interface PrefixFigures {
  readonly prefix: string
  readonly hour: OutcomeCounts
  readonly day: OutcomeCounts
}

/** Counts the answers and receipts of one carrier. Cheap: an answer costs an addition or two. */
export interface CarrierMeter {
  answered(messages: readonly Submission[], answers: readonly SubmissionAnswer[], now: number): void
  /** Counts receipts that were matched to their messages. */
  received(receipts: readonly DeliveryReceipt[], now: number): void
  /** Returns the counts since the previous call. */
  take(): readonly PrefixCounts[]
  /** Adds counts back that could not be stored. */
  putBack(counts: readonly PrefixCounts[]): void
  /** Histogram of the seconds until a final receipt, for a sample of messages. */
  readonly receiptDelay: () => HistogramCounts
  readonly parts: () => HistogramCounts
}

type Counts = { -readonly [Key in keyof OutcomeCounts]: number }

/**
 * Maximum number of messages per second whose receipts are timed. Receipts that arrive after more than an hour are not
 * in the histogram.
 */
const sampleOfSecond = 10
const sampleMilliseconds = 3_600_000

export function createCarrierMeter(): CarrierMeter {
  const parts = createHistogram([1, 2, 3, 4, 5, 6, 7])
  const delay = createHistogram([1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600])
  let counts = new Map<string, Counts>()
  /** Times at which the carrier accepted sampled messages, by its reference, the oldest first. */
  const acceptedAt = new Map<string, number>()
  let second = { at: 0, count: 0 }

  function add(number: Msisdn | undefined, outcome: keyof OutcomeCounts, count = 1): void {
    addTo(number === undefined ? '' : callingCodeOf(number), outcome, count)
  }

  function addTo(prefix: string, outcome: keyof OutcomeCounts, count: number): void {
    let of = counts.get(prefix)
    if (of === undefined) counts.set(prefix, (of = { delivered: 0, failed: 0, unknown: 0, refused: 0 }))
    of[outcome] += count
  }

  function sample(reference: string, now: number): void {
    const at = Math.floor(now / 1000)
    if (second.at !== at) second = { at, count: 0 }
    if (second.count >= sampleOfSecond) return
    second.count++
    acceptedAt.set(reference, now)
    for (const [oldest, since] of acceptedAt) {
      if (now - since < sampleMilliseconds) return
      acceptedAt.delete(oldest)
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
        const outcome = answer.outcome === 'partly' ? 'failed' : answer.outcome
        add(messages.find(({ id }) => id === answer.id)?.to, outcome)
      }
    },
    received(receipts, now) {
      for (const { code, number, reference } of receipts) {
        if (!isFinal(code)) continue
        add(number, code === OUTCOME.delivered ? 'delivered' : 'failed')
        const since = acceptedAt.get(reference)
        if (since === undefined) continue
        acceptedAt.delete(reference)
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
        for (const outcome of ['delivered', 'failed', 'unknown', 'refused'] as const)
          addTo(prefix, outcome, of[outcome])
      }
    },
    receiptDelay: delay.read,
    parts: parts.read,
  }
}
