import type { PushFailure } from '@gateway/core/webhooks'
import { errors, type Dispatcher } from 'undici'
import { PushProblem } from './endpoint.ts'

/** Result of one request, without its duration. */
export type Outcome =
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly retryAfterSeconds: number | undefined
      readonly beginning: string
    }
  | { readonly outcome: 'failed'; readonly failure: PushFailure }

export interface AnswerHandler extends Dispatcher.DispatchHandler {
  /** Ends the request. A status that has arrived already counts as the answer. */
  end(failure: PushFailure): void
}

/** Maximum number of bytes read from one response. */
const readBytesMax = 64 * 1024

/**
 * Reads one response and calls `settle` once. As soon as the status has arrived, the request counts as answered, even
 * if the body fails. The body is read until its end, 64 kB or the deadline of the request, and is never decompressed.
 * `isComplete` is true if the connection can be reused.
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
  // undici reports an unrequested 101 Switching Protocols as a SocketError.
  if (error instanceof errors.SocketError && /^bad /.test(error.message)) return 'invalid-answer'
  return 'connection-closed'
}

const charactersMax = 500
/** Enough bytes for `charactersMax` characters: UTF-8 encodes a character in at most 4 bytes. */
const bytesMax = charactersMax * 4

/** Collects the first bytes of a response. */
interface AnswerBeginning {
  add(chunk: Buffer): void
  /** Returns at most 500 characters; control characters except tabs and line breaks are replaced with U+FFFD. */
  text(): string
}

function answerBeginning(): AnswerBeginning {
  const chunks: Buffer[] = []
  let missing = bytesMax
  return {
    add(chunk) {
      if (missing === 0) return
      // Copied, because a slice would keep the whole network buffer in memory.
      const piece = Buffer.from(chunk.subarray(0, missing))
      missing -= piece.length
      chunks.push(piece)
    },
    text: () => readable(Buffer.concat(chunks).toString('utf8')),
  }
}

const readable = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd')
    .slice(0, charactersMax)
    // Drop half of a surrogate pair at the end.
    .replace(/[\ud800-\udbff]$/, '')

const SECONDS = /^\d+$/
/** Delays beyond this (about thirty years) are treated as this value. */
const secondsMax = 999_999_999
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the seconds from `nowMs` that a `Retry-After` header asks for (RFC 9110, 10.2.3): a number of any length, or
 * a date in the preferred form, which gives 0 if it is past. Returns undefined for anything else.
 */
export function retryAfterSeconds(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (text === undefined) return undefined
  if (SECONDS.test(text)) return Math.min(Number(text), secondsMax)
  const at = DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000))
}
