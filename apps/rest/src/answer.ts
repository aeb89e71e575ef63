import type { ServerResponse } from 'node:http'
import type { OverLimit } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import {
  endResponse,
  setHeaders,
  streamResponse,
  withoutEffect,
  type AdmissionGate,
  type MalformedAnswer,
} from '@gateway/server'
import { restContentType, restEnvelope } from '@gateway/wire'
import { statusOf, type ErrorCode } from './error-codes.ts'

/**
 * An answer without its envelope: the fields of a success as JSON text (`"creditBalance":100.0`), a long list, or a
 * failure.
 */
export type Answer = string | LongFields | Listed | Failure

/**
 * The fields of a long answer, for whoever takes them first. What waits for its turn is old when it is answered, and
 * would keep the text until the next full collection: 65 MB a second where pages of 120 kB are read.
 */
export class LongFields {
  #text: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** In UTF-16 units; 0 once it is taken. */
  get length(): number {
    return this.#text?.length ?? 0
  }

  take(): string {
    const text = this.#text
    if (text === undefined) throw new Error('an answer was taken twice')
    this.#text = undefined
    return text
  }
}

/** A list that may be longer than what a process should hold: its only field, streamed (ruling 2.12). */
export interface Listed {
  /** Whose list it is, as an owner of `AdmissionGate`. */
  readonly owner: string
  readonly name: string
  /** Pieces of it: each one or more elements as JSON text, with commas between them. */
  readonly items: AsyncIterable<string>
}

export interface Failure {
  readonly code: ErrorCode
  readonly errorMessage: string
  readonly headers: Readonly<Record<string, string>>
}

/** An error with this code, which determines its status. */
export const failure = (
  code: ErrorCode,
  errorMessage: string,
  headers: Readonly<Record<string, string>> = {},
): Failure => ({ code, errorMessage, headers })

export const isFailure = (value: object | string): value is Failure =>
  typeof value === 'object' && 'errorMessage' in value

/** In UTF-16 units, of an answer that is made as a whole. */
export const lengthOf = (answer: Answer): number =>
  typeof answer === 'string' || answer instanceof LongFields ? answer.length : 0

const isWhole = (answer: Answer): answer is string | LongFields | Failure =>
  typeof answer === 'string' || answer instanceof LongFields || isFailure(answer)

/** Refused before anything was done; the same request may come again (ruling 1.25). */
export const overloaded = failure('busy', 'The service is busy. Try again later.', { 'Retry-After': '1' })

/** A mistake of ours; the work may have been done (ruling 1.25). */
export const unknownError = failure('internal-error', 'Unknown error.')

/** More requests or recipients a second than its operator lets the account have; nothing was done (ruling 1.25). */
export const overLimit = ({ overLimitSeconds }: OverLimit): Failure =>
  failure('too-many-requests', 'Too many requests', { 'Retry-After': String(overLimitSeconds) })

/**
 * Gives any answer in its envelope: one that is whole at once. Rejects if a list fails; that has read only (ruling
 * 1.25).
 */
export function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  { gate, now }: { readonly gate: AdmissionGate; readonly now: Instant },
): void | Promise<void> {
  if (isWhole(answer)) {
    writeAnswer(response, answer instanceof LongFields ? answer.take() : answer, now)
    return
  }
  setHeaders(response, 200, restContentType)
  return withoutEffect(async () => {
    const outcome = await streamResponse(response, partsOf(answer, now), { gate, owner: answer.owner })
    if (outcome === 'full') writeAnswer(response, overloaded, now)
  })
}

async function* partsOf({ name, items }: Listed, now: Instant): AsyncIterable<string> {
  let before = `${restEnvelope(200, now)},"${name}":[`
  for await (const item of items) {
    yield before + item
    before = ','
  }
  yield before === ',' ? ']}' : `${before}]}`
}

/** Writes an answer that is whole in its envelope (spec 2; ruling 2.1). */
export function writeAnswer(response: ServerResponse, answer: string | Failure, now: Instant): void {
  const { status, fields, headers } =
    typeof answer === 'string' ? { status: 200, fields: answer, headers: {} } : inFields(answer)
  setHeaders(response, status, restContentType, headers)
  endResponse(response, `${restEnvelope(status, now)},${fields}}`)
}

/** A failure as bytes of its own, where there is no response to write it to. */
export function wholeFailure(failed: Failure, now: Instant): MalformedAnswer {
  const { status, fields, headers } = inFields(failed)
  return { status, contentType: restContentType, headers, body: `${restEnvelope(status, now)},${fields}}` }
}

const inFields = ({ code, errorMessage, headers }: Failure) => ({
  status: statusOf(code),
  fields: `"errorMessage":${JSON.stringify(errorMessage)},"errorCode":"${code}"`,
  headers,
})
