import { COMMAND_STATUS } from '@gateway/smpp'

/** State that a receipt reports (SMPP 3.4, 5.2.28), as the word in its text (appendix B). */
export type ReceiptState = 'DELIVRD' | 'EXPIRED' | 'DELETED' | 'UNDELIV' | 'REJECTD'

/** Answer and receipts that a message gets. */
export interface Outcome {
  /** command_status of the response. `none` means that the message is accepted and no response is sent. */
  readonly answer: number | 'none'
  /** Receipts, each sent after the previous one was acknowledged. */
  readonly receipts: readonly ReceiptState[]
  /**
   * True if the message is temporarily refused before it is accepted, `numberRefusals` times (a field of the
   * personality).
   */
  readonly isRefusedFirst: boolean
  /** True if the first receipt is sent before the response. */
  readonly receiptFirst: boolean
  /** Text of the reply after the last acknowledged receipt, if there is one. */
  readonly reply: string | undefined
}

/** command_status of a temporary refusal. */
export const refusedForNow = COMMAND_STATUS.ESME_RSYSERR

const accepted = (...receipts: readonly ReceiptState[]): Outcome => ({
  answer: COMMAND_STATUS.ESME_ROK,
  receipts,
  isRefusedFirst: false,
  receiptFirst: false,
  reply: undefined,
})

const delivered = accepted('DELIVRD')

/**
 * Outcomes by the last two digits of the number, as in the gateway's simulated carrier. Any other number is delivered.
 */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  '88': { ...delivered, reply: 'Yes, thank you' },
  '89': { ...delivered, reply: 'STOP' },
  '90': accepted('UNDELIV'),
  '91': accepted('EXPIRED'),
  '92': accepted('REJECTD'),
  '93': { ...accepted(), answer: COMMAND_STATUS.ESME_RINVDSTADR },
  '94': accepted(),
  '95': { ...accepted(), answer: 'none' },
  '96': { ...delivered, isRefusedFirst: true },
  '97': { ...delivered, receiptFirst: true },
  '98': accepted('DELIVRD', 'UNDELIV'),
}

export const outcomeOf = (number: string): Outcome => OUTCOMES[number.slice(-2)] ?? delivered

/** Counts how often each message was temporarily refused. */
export interface Refusals {
  /**
   * Returns true for the first `times` calls with this key and false for the next call. After that the count starts
   * again.
   */
  isRefused(key: string, times: number): boolean
}

const keysMax = 100_000

/** Creates the counts. Beyond 100 000 keys the oldest one is forgotten. */
export function refusals(): Refusals {
  const counts = new Map<string, number>()
  return {
    isRefused(key, times) {
      const count = counts.get(key) ?? 0
      counts.delete(key)
      if (count >= times) return false
      counts.set(key, count + 1)
      if (counts.size > keysMax) counts.delete(counts.keys().next().value ?? '')
      return true
    },
  }
}

/**
 * Keeps a number from replying to the same sender again for ten seconds, so that two programs do not reply to each
 * other forever.
 */
export interface QuietReplies {
  /** Returns true if the number may reply, which it then does `delay` milliseconds after `now`. */
  mayReply(number: string, sender: string, now: number, delay: number): boolean
}

const quietMilliseconds = 10_000

export function quietReplies(): QuietReplies {
  const until = new Map<string, number>()
  return {
    mayReply(number, sender, now, delay) {
      const key = `${number} ${sender}`
      // `until` is ordered by insertion, so the oldest entries come first.
      for (const [old, end] of until) {
        if (end > now) break
        until.delete(old)
      }
      if ((until.get(key) ?? 0) > now) return false
      until.delete(key)
      until.set(key, now + delay + quietMilliseconds)
      return true
    },
  }
}
