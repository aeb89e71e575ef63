import { messageId, parseSenderAddress, type MessageId, type SenderAddress } from '@gateway/core/messages'
import { instant, secondsAfter, type Clock, type Instant } from '@gateway/core/time'
import { fieldsOf } from './record-file.ts'

/** Position of a message in a run. */
export interface Place {
  readonly run: string
  readonly position: number
}

/** Returns the carrier's id of a message. It is unique, because every run has a random name. */
export const referenceAt = (run: string, position: number): string => `${run}-${position.toString(36)}`

/** Maximum position, which limits the memory that a manipulated record can allocate. */
const positionMax = 1 << 28

/** Parses a reference; undefined if it has another form. */
export function placeOf(reference = ''): Place | undefined {
  const dash = reference.indexOf('-')
  const position = parseInt(reference.slice(dash + 1), 36)
  return dash > 0 && position >= 0 && position < positionMax ? { run: reference.slice(0, dash), position } : undefined
}

export const runOf = (reference: string): string => reference.slice(0, reference.indexOf('-'))

/** Number of acknowledged receipts of each message. */
export interface Acknowledgements {
  /** Counts the acknowledgements that a line of the record contains. */
  note(line: string): void
  of(place: Place): number
}

/** Creates the counts, which need one byte per message. */
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

/** Number of times that each message was temporarily refused. It is kept until the message gets its final answer. */
export interface RefusalCounts {
  /** Counts the refusals that a line of the record contains. */
  note(line: string): void
  /** Returns true if these lines may change a count. */
  mayConcern(lines: string): boolean
  of(id: MessageId): number
}

const refusedMarker = '"refused-for-now"'

export function refusalCounts(): RefusalCounts {
  const counts = new Map<MessageId, number>()
  return {
    mayConcern: (lines) => counts.size > 0 || lines.includes(refusedMarker),
    note(line) {
      // Most records contain no refusal, so their lines are not parsed.
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

/** Reply that the simulated owner of a number sends. */
export interface Reply {
  /** Sender of the message, to whom the number replies. */
  readonly to: SenderAddress | undefined
  readonly at: Instant
}

/** Recent and imminent replies. A number does not reply to the same sender again for some seconds. */
export interface Conversations {
  /** Reads a line of the record, written by any process. */
  note(line: string): void
  /** Records a reply. */
  addReply(number: string, reply: Reply): void
  /**
   * Returns true if the number must not reply to this sender now, because its last reply was too recent or is still to
   * be sent.
   */
  isQuiet(number: string, sender: SenderAddress | undefined, at: Instant): boolean
}

const quietSeconds = 10
const repliesMarker = '"replies":'

/** Returns true if these lines contain a reply. Lines without a reply are not parsed. */
export const containsReplies = (lines: string): boolean => lines.includes(repliesMarker)

type Field = NonNullable<ReturnType<typeof fieldsOf>>

export function replyOf(field: Field): Reply | undefined {
  const at = Date.parse(field('replies') ?? '')
  return Number.isNaN(at) ? undefined : { to: parseSenderAddress(field('from') ?? ''), at: instant(at) }
}

/** Creates the record of replies. `clock` is the clock by which replies have their times. */
export function conversations(clock: Clock): Conversations {
  const quietUntil = new Map<string, Instant>()
  const keyOf = (number: string, sender: SenderAddress | undefined): string => `${number} ${sender ?? ''}`

  /** Removes expired entries, which come first. */
  function forget(now: number): void {
    for (const [key, until] of quietUntil) {
      if (until > now) return
      quietUntil.delete(key)
    }
  }

  function addReply(number: string, { to, at }: Reply): void {
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
      const field = containsReplies(line) ? fieldsOf(line) : undefined
      const reply = field === undefined ? undefined : replyOf(field)
      const number = field?.('number')
      if (reply !== undefined && number !== undefined) addReply(number, reply)
    },
    addReply,
    isQuiet: (number, sender, at) => at < (quietUntil.get(keyOf(number, sender)) ?? 0),
  }
}
