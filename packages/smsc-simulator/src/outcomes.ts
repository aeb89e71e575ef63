import { COMMAND_STATUS } from '@gateway/smpp'

/** What a receipt says (SMPP 3.4, 5.2.28), with the word of its text (appendix B). */
export type ReceiptState = 'DELIVRD' | 'EXPIRED' | 'DELETED' | 'UNDELIV' | 'REJECTD'

/** What happens to a message. */
export interface Outcome {
  /** The command_status of its answer; `none`: it is taken and never answered. */
  readonly answer: number | 'none'
  /** Sent in order, each after the one before it was acknowledged. */
  readonly receipts: readonly ReceiptState[]
  /** The message is refused for now before its answer, as often as the personality says. */
  readonly isRefusedFirst: boolean
  /** The first receipt comes before the answer. */
  readonly receiptFirst: boolean
  /** The text of the reply that follows the last acknowledged receipt. */
  readonly reply: string | undefined
}

/** The status of a message that is refused for now. */
export const refusedForNow = COMMAND_STATUS.ESME_RSYSERR

const accepted = (...receipts: readonly ReceiptState[]): Outcome => ({
  answer: COMMAND_STATUS.ESME_ROK,
  receipts,
  isRefusedFirst: false,
  receiptFirst: false,
  reply: undefined,
})

const delivered = accepted('DELIVRD')

/** By the last two digits; those of the simulated carrier of the gateway. Any other ending is delivered. */
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

/** How often each message was refused for now. */
export interface Refusals {
  /** True the first `times` times that a message with this key comes; then false once, and it begins anew. */
  isRefused(key: string, times: number): boolean
}

const keysMax = 100_000

/** Forgets the oldest beyond 100 000 keys. */
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
 * Keeps a number from answering the same sender again for ten seconds, so that no two programs answer each other for
 * ever.
 */
export interface QuietReplies {
  /** Whether it may answer, which it then does after so many milliseconds. */
  mayReply(number: string, sender: string, now: number, delay: number): boolean
}

const quietMilliseconds = 10_000

export function quietReplies(): QuietReplies {
  const until = new Map<string, number>()
  return {
    mayReply(number, sender, now, delay) {
      const key = `${number} ${sender}`
      // The oldest come first.
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
