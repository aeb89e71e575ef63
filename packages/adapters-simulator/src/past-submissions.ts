import { messageId, parseSenderAddress, type MessageId, type SenderAddress } from '@gateway/core/messages'
import { instant, secondsAfter, type Clock, type Instant } from '@gateway/core/time'
import { fieldsOf } from './record-file.ts'

/** The position of a message in its run. */
export interface Place {
  readonly run: string
  readonly position: number
}

/** The carrier's ids: unique, since every run has a random name. */
export const referenceAt = (run: string, position: number): string => `${run}-${position.toString(36)}`

/** Bounds the memory that a manipulated record can cause. */
const positionMax = 1 << 28

/** Parses a reference; undefined if it has another form. */
export function placeOf(reference = ''): Place | undefined {
  const dash = reference.indexOf('-')
  const position = parseInt(reference.slice(dash + 1), 36)
  return dash > 0 && position >= 0 && position < positionMax ? { run: reference.slice(0, dash), position } : undefined
}

export const runOf = (reference: string): string => reference.slice(0, reference.indexOf('-'))

/** How many receipts of each message were acknowledged. */
export interface Acknowledgements {
  /** Counts a line of the record. */
  note(line: string): void
  of(place: Place): number
}

/** Takes a byte for each message. */
export function acknowledgements(): Acknowledgements {
  const runs = new Map<string, Uint8Array>()
  return {
    note(line) {
      const at = placeOf(fieldsOf(line)?.('carrierId'))
      if (at === undefined) return
      let counts = runs.get(at.run) ?? new Uint8Array(1024)
      if (at.position >= counts.length) {
        const grown = new Uint8Array(Math.max(at.position + 1, counts.length * 2))
        grown.set(counts)
        counts = grown
      }
      runs.set(at.run, counts)
      counts[at.position] = Math.min(255, (counts[at.position] ?? 0) + 1)
    },
    of: ({ run, position }) => runs.get(run)?.[position] ?? 0,
  }
}

/** How often each message was refused for now and has not got its answer since. */
export interface RefusalCounts {
  /** Counts a line of the record. */
  note(line: string): void
  /** Whether there is anything to note in these lines. */
  mayConcern(lines: string): boolean
  of(id: MessageId): number
}

const refusedMarker = '"refused-for-now"'

export function refusalCounts(): RefusalCounts {
  const counts = new Map<MessageId, number>()
  return {
    mayConcern: (lines) => counts.size > 0 || lines.includes(refusedMarker),
    note(line) {
      // Most records know no refusal: their lines need not be read any further.
      const isRefused = line.includes(refusedMarker)
      if (!isRefused && counts.size === 0) return
      const id = messageId(Number(fieldsOf(line)?.('messageId')))
      if (id === undefined) return
      if (isRefused) counts.set(id, (counts.get(id) ?? 0) + 1)
      else counts.delete(id)
    },
    of: (id) => counts.get(id) ?? 0,
  }
}

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
const repliesMarker = '"replies":'

/** Whether some of these lines tell of a reply: the others need not be read. */
export const tellsReplies = (lines: string): boolean => lines.includes(repliesMarker)

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
