import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DeliveryReceiptCode, SubmissionAnswer } from '@gateway/core/dispatch'
import { isNameOfSender, parseMsisdn, type MessageId, type Msisdn, type SenderAddress } from '@gateway/core/messages'
import { instant, type Clock, type Instant } from '@gateway/core/time'
import {
  acknowledgements,
  conversations,
  replyOf,
  containsReplies,
  placeOf,
  refusalCounts,
  type Acknowledgements,
  type Conversations,
  type Reply,
  type RefusalCounts,
} from './past-submissions.ts'
import { appendFile, fieldsOf, linesOf, type AppendFile } from './record-file.ts'
import { outcomeOf } from './outcomes.ts'
import type { Owners } from './owners.ts'

/** Submitted message with its answer. */
export interface Submitted {
  readonly id: MessageId
  readonly from: SenderAddress | undefined
  readonly to: Msisdn
  /** The carrier's own id; undefined unless it accepted the message. */
  readonly reference: string | undefined
  readonly answer: Exclude<SubmissionAnswer['outcome'], 'partly'>
  /** Reply that the recipient will send, if there is one. */
  readonly reply: Reply | undefined
}

/**
 * Receipt that has not been acknowledged yet, or reply that follows the last receipt and has not been acknowledged yet.
 */
export interface Owed {
  readonly reference: string
  readonly to: Msisdn
  /** Time when the message was submitted. */
  readonly at: Instant
  /** Number of receipts of the same message before this one. */
  readonly nth: number
  /** Reply after all receipts of the message. */
  readonly reply: Reply | undefined
}

/** Acknowledgement of a receipt with this code, or of the reply (code undefined). */
interface Acknowledged {
  readonly reference: string
  readonly code: DeliveryReceiptCode | undefined
}

/**
 * Record of all submissions and of the acknowledged receipts and replies, in files that survive a killed process
 * (docs/operations/simulator.md). Several processes write at the same time.
 */
export interface SubmissionRecord {
  /** Writes the submissions of a batch. Throws a `NotWritten`. */
  submitted(at: Instant, batch: readonly Submitted[]): void
  /** Writes that receipts or replies were acknowledged. Throws a `NotWritten`. */
  acknowledged(items: readonly Acknowledged[]): void
  /** Returns how often any process has temporarily refused the message. */
  refusals(id: MessageId): number
  /** Returns true if the number may reply to this sender now, because it has not replied recently in any process. */
  mayReply(number: Msisdn, sender: SenderAddress | undefined, at: Instant): boolean
  /** Records a reply that is still to be sent, before the reply is in the file. */
  addReply(number: Msisdn, reply: Reply): void
  close(): void
}

/** Size at which a file is set aside: about a million submissions, which take 2 s to read. */
export const rotateBytes = 128 << 20

const files = ['submissions', 'receipts'] as const

/**
 * Reads the record; a million lines take 2 s. Only outstanding receipts take memory. `open` opens the record for
 * writing. Before that, `open` sets the files aside as the old record if they exceed `rotateFrom` bytes, the old record
 * has no outstanding receipt, and no other process uses the folder.
 */
export async function readRecord(folder: string, owners: Owners, clock: Clock, rotateFrom = rotateBytes) {
  const path = (name: string) => join(folder, `${name}.jsonl`)
  const acknowledged = acknowledgements()
  for (const name of ['receipts.old', 'receipts']) {
    for await (const { lines } of linesOf(path(name))) for (const line of lines) acknowledged.note(line)
  }
  const past: Past = { refusals: refusalCounts(), conversations: conversations(clock) }
  const old = await readSubmissions(path('submissions.old'), acknowledged, owners, past)
  const current = await readSubmissions(path('submissions'), acknowledged, owners, past)

  function open(): SubmissionRecord {
    const isFull = files.some((name) => sizeOf(path(name)) > rotateFrom)
    const rotates = isFull && old.owed.length === 0 && !owners.isShared()
    if (rotates) for (const name of files) rotate(path(name), path(`${name}.old`))
    const submissions = appendFile(path('submissions'), rotates ? 0 : current.bytes)
    return writers(submissions, appendFile(path('receipts'), 0), past, clock)
  }
  return { owed: [...old.owed, ...current.owed], open }
}

/** State that was read from the lines of earlier runs. */
interface Past {
  readonly refusals: RefusalCounts
  readonly conversations: Conversations
}

function writers(submissions: AppendFile, receipts: AppendFile, past: Past, clock: Clock): SubmissionRecord {
  const { refusals, conversations } = past

  function catchUp(): void {
    for (const block of submissions.news()) {
      if (refusals.mayConcern(block) || containsReplies(block)) for (const line of block.split('\n')) note(past, line)
    }
  }

  return {
    submitted(at, batch) {
      const time = new Date(at).toISOString()
      submissions.append(batch.map((one) => submissionLine(time, one)).join(''))
    },
    acknowledged(batch) {
      const time = new Date(clock.now()).toISOString()
      receipts.append(batch.map(({ reference, code }) => acknowledgedLine(time, reference, code)).join(''))
    },
    refusals(id) {
      catchUp()
      return refusals.of(id)
    },
    mayReply(number, sender, at) {
      catchUp()
      return !conversations.isQuiet(number, sender, at)
    },
    addReply: (number, reply) => conversations.addReply(number, reply),
    close() {
      submissions.close()
      receipts.close()
    },
  }
}

function note({ refusals, conversations }: Past, line: string): void {
  refusals.note(line)
  conversations.note(line)
}

// None of the values contains a character that JSON escapes.
const submissionLine = (time: string, { id, from, to, reference, answer, reply }: Submitted): string => {
  const replies = reply === undefined ? '' : `,"replies":"${new Date(reply.at).toISOString()}"`
  return `{"time":"${time}","messageId":${id},"from":${quotedSender(from)},"number":"${to}","carrierId":${quoted(reference)},"answer":"${answer}"${replies}}\n`
}

const acknowledgedLine = (time: string, reference: string, code: DeliveryReceiptCode | undefined): string =>
  `{"time":"${time}","carrierId":"${reference}","code":${code ?? 'null'}}\n`

/**
 * Quotes a sender. Special characters of an alphanumeric sender are escaped, because `fieldsOf` does not parse JSON.
 */
const quotedSender = (from: SenderAddress | undefined): string =>
  from === undefined || !isNameOfSender(from) ? quoted(from) : `"${from.replace(/[^\p{L}\p{N} ]/gu, escaped)}"`

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const quoted = (text: string | undefined): string => (text === undefined ? 'null' : `"${text}"`)

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

function rotate(from: string, to: string): void {
  rmSync(to, { force: true })
  if (existsSync(from)) renameSync(from, to)
}

async function readSubmissions(path: string, acknowledged: Acknowledgements, owners: Owners, past: Past) {
  const owed: Owed[] = []
  let read = 0
  for await (const { lines, bytes } of linesOf(path)) {
    read = bytes
    for (const line of lines) {
      note(past, line)
      const one = owedOf(line, acknowledged, owners)
      if (one !== undefined) owed.push(one)
    }
  }
  return { owed, bytes: read }
}

function owedOf(line: string, acknowledged: Acknowledgements, owners: Owners): Owed | undefined {
  const field = fieldsOf(line)
  const reference = field?.('carrierId')
  const place = placeOf(reference)
  const number = field?.('number')
  if (field?.('answer') !== 'accepted' || place === undefined || number === undefined) return undefined
  const nth = acknowledged.of(place)
  const simulated = outcomeOf(number)
  const reply = simulated.reply === undefined ? undefined : replyOf(field)
  if (nth >= simulated.receipts.length + (reply === undefined ? 0 : 1) || owners.isForeign(place.run)) return undefined
  const to = parseMsisdn(number)
  const at = Date.parse(field('time') ?? '')
  if (to === undefined || Number.isNaN(at) || reference === undefined) return undefined
  return { reference, to, at: instant(at), nth, reply }
}
