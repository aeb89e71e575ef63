import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  instant,
  parseMsisdn,
  type Instant,
  type MessageId,
  type Msisdn,
  type ReceiptCode,
  type SubmissionAnswer,
} from '@gateway/core'
import { acknowledgements, type Acknowledgements } from './acknowledgements.ts'
import { appendFile, type AppendFile } from './append-file.ts'
import { fateOf } from './fates.ts'
import { fieldsOf, linesOf } from './lines.ts'
import type { Owners } from './owners.ts'
import { placeOf } from './references.ts'
import { refusalCounts, type RefusalCounts } from './refusal-counts.ts'

/** A message that was submitted, and what was answered. */
export interface Submitted {
  readonly id: MessageId
  readonly to: Msisdn
  /** The carrier's own id; undefined unless it accepted the message. */
  readonly reference: string | undefined
  readonly answer: SubmissionAnswer['outcome']
}

/** A receipt that was promised and not acknowledged. */
export interface Owed {
  readonly reference: string
  readonly to: Msisdn
  /** When its message was submitted. */
  readonly at: Instant
  /** So many receipts of the same message came before it. */
  readonly nth: number
}

/**
 * Everything that was ever submitted, and which receipts were acknowledged, in files that outlive a killed process:
 * `submissions.jsonl` and `receipts.jsonl`, one line each, oldest first; older lines are in `submissions.old.jsonl` and
 * `receipts.old.jsonl`. Several processes write at the same time.
 */
export interface SubmissionRecord {
  /** Throws a `NotWritten`. */
  submitted(at: Instant, batch: readonly Submitted[]): void
  /** Throws a `NotWritten`. */
  acknowledged(receipts: readonly { readonly reference: string; readonly code: ReceiptCode }[]): void
  /** How often the message was refused for now, by whatever process. */
  refusals(id: MessageId): number
  close(): void
}

/** The lines of about so many bytes make a million submissions; 2 s to read. */
export const rotateBytes = 128 << 20

const files = ['submissions', 'receipts'] as const

/**
 * Reads what there is: a million lines in 2 s, in bounded memory besides what is owed. `open` opens it for more, after setting
 * it aside as the old record if it has grown beyond `rotateFrom` bytes, nothing in the old one is owed, and nobody else is at it.
 */
export async function readRecord(folder: string, owners: Owners, rotateFrom = rotateBytes) {
  const path = (name: string) => join(folder, `${name}.jsonl`)
  const acknowledged = acknowledgements()
  for (const name of ['receipts.old', 'receipts']) {
    for await (const { lines } of linesOf(path(name))) for (const line of lines) acknowledged.note(line)
  }
  const refusals = refusalCounts()
  const old = await readSubmissions(path('submissions.old'), acknowledged, owners, refusals)
  const current = await readSubmissions(path('submissions'), acknowledged, owners, refusals)

  function open(): SubmissionRecord {
    const isFull = files.some((name) => sizeOf(path(name)) > rotateFrom)
    const rotates = isFull && old.owed.length === 0 && !owners.hasCompany()
    if (rotates) for (const name of files) rotate(path(name), path(`${name}.old`))
    const submissions = appendFile(path('submissions'), rotates ? 0 : current.bytes)
    return writers(submissions, appendFile(path('receipts'), 0), refusals)
  }
  return { owed: [...old.owed, ...current.owed], open }
}

function writers(submissions: AppendFile, receipts: AppendFile, refusals: RefusalCounts): SubmissionRecord {
  return {
    submitted(at, batch) {
      const time = new Date(at).toISOString()
      submissions.append(batch.map((one) => submissionLine(time, one)).join(''))
    },
    acknowledged(batch) {
      const time = new Date().toISOString()
      receipts.append(
        batch.map((one) => `{"time":"${time}","carrierId":"${one.reference}","code":${one.code}}\n`).join(''),
      )
    },
    refusals(id) {
      for (const block of submissions.news()) {
        for (const line of block.split('\n')) refusals.note(line)
      }
      return refusals.of(id)
    },
    close() {
      submissions.close()
      receipts.close()
    },
  }
}

// None of the values holds a character that JSON writes in another way.
const submissionLine = (time: string, { id, to, reference, answer }: Submitted): string =>
  `{"time":"${time}","messageId":${id},"number":"${to}","carrierId":${reference === undefined ? 'null' : `"${reference}"`},"answer":"${answer}"}\n`

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

function rotate(from: string, to: string): void {
  rmSync(to, { force: true })
  if (existsSync(from)) renameSync(from, to)
}

async function readSubmissions(path: string, acknowledged: Acknowledgements, owners: Owners, refusals: RefusalCounts) {
  const owed: Owed[] = []
  let read = 0
  for await (const { lines, bytes } of linesOf(path)) {
    read = bytes
    for (const line of lines) {
      refusals.note(line)
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
  if (nth >= fateOf(number).receipts.length || owners.isForeign(place.run)) return undefined
  const to = parseMsisdn(number)
  const at = Date.parse(field('time') ?? '')
  if (to === undefined || Number.isNaN(at) || reference === undefined) return undefined
  return { reference, to, at: instant(at), nth }
}
