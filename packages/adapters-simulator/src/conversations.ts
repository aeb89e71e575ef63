import { instant, parseSenderAddress, secondsAfter, type Clock, type Instant, type SenderAddress } from '@gateway/core'
import { fieldsOf } from './lines.ts'

/** What a number writes back. */
export interface Reply {
  /** Where the message came from. */
  readonly to: SenderAddress | undefined
  readonly at: Instant
}

/** Who has answered whom of late, or is about to: for some seconds nobody answers the same sender again. */
export interface Conversations {
  /** Reads a line of the record, of whatever process. */
  note(line: string): void
  answers(number: string, reply: Reply): void
  /** Whether the number has answered this sender, or will, and has not been silent for long enough since. */
  isQuiet(number: string, sender: SenderAddress | undefined, at: Instant): boolean
}

const quietSeconds = 10
const marker = '"replies":'

/** Whether some of these lines tell of a reply: the others need not be read. */
export const tellsReplies = (lines: string): boolean => lines.includes(marker)

type Field = NonNullable<ReturnType<typeof fieldsOf>>

export function replyOf(field: Field): Reply | undefined {
  const at = Date.parse(field('replies') ?? '')
  return Number.isNaN(at) ? undefined : { to: parseSenderAddress(field('from') ?? ''), at: instant(at) }
}

/** `clock` is the one by which replies have their times. */
export function conversations(clock: Clock): Conversations {
  const quietUntil = new Map<string, Instant>()
  const keyOf = (number: string, sender: SenderAddress | undefined): string => `${number} ${sender ?? ''}`

  /** The oldest come first, so what is over is found at once. */
  function forget(now: number): void {
    for (const [key, until] of quietUntil) {
      if (until > now) return
      quietUntil.delete(key)
    }
  }

  function answers(number: string, { to, at }: Reply): void {
    const now = clock.now()
    const until = secondsAfter(at, quietSeconds)
    const key = keyOf(number, to)
    forget(now)
    if (until <= Math.max(now, quietUntil.get(key) ?? 0)) return
    quietUntil.delete(key)
    quietUntil.set(key, until)
  }

  return {
    note(line) {
      const field = tellsReplies(line) ? fieldsOf(line) : undefined
      const reply = field === undefined ? undefined : replyOf(field)
      const number = field?.('number')
      if (reply !== undefined && number !== undefined) answers(number, reply)
    },
    answers,
    isQuiet: (number, sender, at) => at < (quietUntil.get(keyOf(number, sender)) ?? 0),
  }
}
