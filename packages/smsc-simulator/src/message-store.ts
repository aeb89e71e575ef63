import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { latestMessages } from './latest-messages.ts'
import { messageNumbers } from './message-ids.ts'
import type { EndedMessage, StoredMessage } from './stored-message.ts'

export interface MessageStore {
  nextNumber(): number
  add(message: StoredMessage): void
  /** Those whose id says this number: one, or all of a submit_multi. */
  find(number: number): readonly (StoredMessage | EndedMessage)[]
  progress(message: StoredMessage): void
  /** What an earlier run took and did not bring to its end. */
  owed(): readonly StoredMessage[]
  /** Writes what changed since the last call in one write. */
  flush(): void
  close(): void
}

const keptMax = 500_000
/** The latest submit_multi, of which the messages behind the first are found. */
const multiplesMax = 1000

/** With a folder, messages and what is owed for them survive the end of the process; without, only their numbers stay unique. */
export function messageStore(folder: string | undefined, now: number): MessageStore {
  const earlier = new Map<number, StoredMessage>()
  const path = folder === undefined ? undefined : pathIn(folder)
  if (path !== undefined) for (const line of linesOf(path)) apply(earlier, line)
  const file = path === undefined ? undefined : openSync(path, 'a', 0o600)
  const numbers = messageNumbers(now)
  const latest = latestMessages(keptMax)
  const behind = new Map<number, StoredMessage[]>()
  for (const message of earlier.values()) noteMultiple(message)
  const owed = [...earlier.values()].filter(isOwed)
  let lines = ''

  function noteMultiple(message: StoredMessage): void {
    const { first } = message
    if (first === undefined) return
    const others = behind.get(first) ?? []
    others.push(message)
    behind.set(first, others)
    const oldest = behind.size > multiplesMax ? behind.keys().next().value : undefined
    if (oldest !== undefined) behind.delete(oldest)
  }

  return {
    nextNumber() {
      for (;;) {
        const number = numbers()
        if (!earlier.has(number)) return number
      }
    },
    add(message) {
      latest.add(message)
      noteMultiple(message)
      if (file !== undefined) lines += `${JSON.stringify(message)}\n`
    },
    find(number) {
      const message = latest.find(number) ?? earlier.get(number)
      return message === undefined ? [] : [message, ...(behind.get(number) ?? [])]
    },
    progress(message) {
      const { number, done, state } = message
      if (!isOwed(message)) latest.end(message)
      if (file !== undefined) lines += `${JSON.stringify({ number, done, state })}\n`
    },
    owed: () => owed,
    flush() {
      if (file === undefined || lines === '') return
      const bytes = Buffer.from(lines)
      lines = ''
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    },
    close() {
      this.flush()
      if (file !== undefined) closeSync(file)
    },
  }
}

function pathIn(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'messages.jsonl')
  // Behind a line that a killed process left torn.
  if (existsSync(path) && !readFileSync(path, 'utf8').endsWith('\n')) appendFileSync(path, '\n')
  return path
}

const linesOf = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [])

function apply(messages: Map<number, StoredMessage>, line: string): void {
  const entry = parse(line)
  if (entry?.number === undefined) return
  const known = messages.get(entry.number)
  if (known !== undefined) Object.assign(known, { done: entry.done ?? known.done, state: entry.state ?? known.state })
  else if (entry.to !== undefined) messages.set(entry.number, entry as StoredMessage)
}

function parse(line: string): Partial<StoredMessage> | undefined {
  try {
    return JSON.parse(line) as Partial<StoredMessage>
  } catch {
    return undefined
  }
}

const isOwed = ({ receipts, reply, done }: StoredMessage): boolean =>
  done < receipts.length + (reply === undefined ? 0 : 1)
