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
 * Response without its envelope: the fields of a success as JSON text (`"creditBalance":100.0`), a long list, or a
 * failure.
 */
export type Answer = string | LongFields | Listed | Failure

/**
 * Fields of a long response. Their text can be taken only once, and this object then no longer refers to it. When a
 * waiting request is answered, its objects have already moved to the old generation of V8 and would keep the text alive
 * until the next full garbage collection. Reading pages of 120 kB would retain 65 MB a second.
 */
export class LongFields {
  #text: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Length in UTF-16 units. 0 once the text has been taken. */
  get length(): number {
    return this.#text?.length ?? 0
  }

  take(): string {
    const text = this.#text
    if (text === undefined) throw new Error('the fields of a response were taken twice')
    this.#text = undefined
    return text
  }
}

/** List that may be too long to hold in memory. It is the only field of its response and is streamed (ruling 2.12). */
export interface Listed {
  /** Owner of the list, as `AdmissionGate` names it. */
  readonly owner: string
  readonly name: string
  /** Pieces of the list, each with one or more elements as JSON text, separated by commas. */
  readonly items: AsyncIterable<string>
}

export interface Failure {
  readonly code: ErrorCode
  readonly errorMessage: string
  readonly headers: Readonly<Record<string, string>>
}

/** Returns a failure with this code, which determines the HTTP status. */
export const failure = (
  code: ErrorCode,
  errorMessage: string,
  headers: Readonly<Record<string, string>> = {},
): Failure => ({ code, errorMessage, headers })

export const isFailure = (value: object | string): value is Failure =>
  typeof value === 'object' && 'errorMessage' in value

/** Returns the length of a complete response in UTF-16 units. */
export const lengthOf = (answer: Answer): number =>
  typeof answer === 'string' || answer instanceof LongFields ? answer.length : 0

const isWhole = (answer: Answer): answer is string | LongFields | Failure =>
  typeof answer === 'string' || answer instanceof LongFields || isFailure(answer)

/** Overload: nothing was done, and the client may repeat the request (ruling 1.25). */
export const overloaded = failure('busy', 'The service is busy. Try again later.', { 'Retry-After': '1' })

/** Internal error. The work may have been done (ruling 1.25). */
export const unknownError = failure('internal-error', 'Unknown error.')

/**
 * Returns the refusal of an account that exceeds its limit of requests or recipients per second. Nothing was done
 * (ruling 1.25).
 */
export const overLimit = ({ overLimitSeconds }: OverLimit): Failure =>
  failure('too-many-requests', 'Too many requests', { 'Retry-After': String(overLimitSeconds) })

/**
 * Sends a response in its envelope. A complete response is written at once, a list is streamed. Rejects if reading the
 * list fails. The failed request had no effect (ruling 1.25).
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

/** Writes a complete response in its envelope (spec 2; ruling 2.1). */
export function writeAnswer(response: ServerResponse, answer: string | Failure, now: Instant): void {
  const { status, fields, headers } =
    typeof answer === 'string' ? { status: 200, fields: answer, headers: {} } : inFields(answer)
  setHeaders(response, status, restContentType, headers)
  endResponse(response, `${restEnvelope(status, now)},${fields}}`)
}

/** Returns a failure as a complete response, for places that have no response object. */
export function wholeFailure(failed: Failure, now: Instant): MalformedAnswer {
  const { status, fields, headers } = inFields(failed)
  return { status, contentType: restContentType, headers, body: `${restEnvelope(status, now)},${fields}}` }
}

const inFields = ({ code, errorMessage, headers }: Failure) => ({
  status: statusOf(code),
  fields: `"errorMessage":${JSON.stringify(errorMessage)},"errorCode":"${code}"`,
  headers,
})
