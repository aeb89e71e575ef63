import type { PushFailure } from '@gateway/core/webhooks'
import { errors, type Dispatcher } from 'undici'
import { PushProblem } from './endpoint.ts'

/** What came of a request, without the time it took. */
export type Outcome =
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly retryAfterSeconds: number | undefined
      readonly beginning: string
    }
  | { readonly outcome: 'failed'; readonly failure: PushFailure }

export interface AnswerHandler extends Dispatcher.DispatchHandler {
  /** Ends the request. What was answered until then counts. */
  end(failure: PushFailure): void
}

/** More of an answer is not read. */
const readBytesMax = 64 * 1024

/**
 * Reads an answer and settles once. From the moment that a status has come it counts, whatever becomes of the rest:
 * that is read until its end, 64 kB, or the end of the request, and is never decompressed. `isComplete`: the connection
 * can be used again.
 */
export function answerHandler(
  settle: (outcome: Outcome, isComplete: boolean) => void,
  clock: { now(): number },
): AnswerHandler {
  let controller: Dispatcher.DispatchController | undefined
  let head: { readonly status: number; readonly retryAfterSeconds: number | undefined } | undefined
  let settled = false
  let readBytes = 0
  let isReadable = true
  const beginning = answerBeginning()

  const finish = (failure: PushFailure, isComplete = false): void => {
    if (settled) return
    settled = true
    const outcome: Outcome = head
      ? { outcome: 'answered', ...head, beginning: beginning.text() }
      : { outcome: 'failed', failure }
    settle(outcome, isComplete)
  }
  const end = (failure: PushFailure): void => {
    finish(failure)
    controller?.abort(new PushProblem(failure))
  }
  return {
    end,
    onRequestStart(started) {
      controller = started
      if (settled) started.abort(new PushProblem('stopped'))
    },
    onResponseStart(_, status, headers) {
      if (status < 200) return
      head = { status, retryAfterSeconds: retryAfterSeconds(headers['retry-after'], clock.now()) }
      isReadable = /^(|identity)$/i.test(String(headers['content-encoding'] ?? ''))
    },
    onResponseData(_, chunk) {
      readBytes += chunk.length
      if (isReadable) beginning.add(chunk)
      if (readBytes >= readBytesMax) end('invalid-answer')
    },
    onResponseEnd: () => finish('connection-closed', true),
    onResponseError: (_, error) => finish(failureOf(error)),
  }
}

function failureOf(error: unknown): PushFailure {
  if (error instanceof PushProblem) return error.failure
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return 'invalid-answer'
  // What undici calls so came as an answer: a status 101 that was not asked for.
  if (error instanceof errors.SocketError && /^bad /.test(error.message)) return 'invalid-answer'
  return 'connection-closed'
}

const charactersMax = 500
/** No character of UTF-8 has more bytes. */
const bytesMax = charactersMax * 4

/** Collects the beginning of an answer. */
interface AnswerBeginning {
  add(chunk: Buffer): void
  /** At most 500 characters that can be shown and stored: control characters but tabs and line breaks become U+FFFD. */
  text(): string
}

function answerBeginning(): AnswerBeginning {
  const chunks: Buffer[] = []
  let missing = bytesMax
  return {
    add(chunk) {
      if (missing === 0) return
      // A copy: a slice would keep all of what was read.
      const taken = Buffer.from(chunk.subarray(0, missing))
      missing -= taken.length
      chunks.push(taken)
    },
    text: () => readable(Buffer.concat(chunks).toString('utf8')),
  }
}

const readable = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd')
    .slice(0, charactersMax)
    // Half of a character that does not fit.
    .replace(/[\ud800-\udbff]$/, '')

const SECONDS = /^\d+$/
/** Thirty years: no more is told apart. */
const secondsMax = 999_999_999
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Seconds from `nowMs` as a `Retry-After` header says it (RFC 9110, 10.2.3): a number of any length, or a date of the
 * preferred form, 0 if that is past. Undefined: it says nothing that can be read.
 */
export function retryAfterSeconds(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (text === undefined) return undefined
  if (SECONDS.test(text)) return Math.min(Number(text), secondsMax)
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000))
}
