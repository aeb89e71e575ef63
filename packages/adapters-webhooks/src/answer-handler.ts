import type { PushFailure } from '@gateway/core'
import { errors, type Dispatcher } from 'undici'
import { answerBeginning } from './answer-beginning.ts'
import { PushProblem } from './push-problem.ts'
import { retryAfterSeconds } from './retry-after.ts'

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
const bytesMax = 64 * 1024

/**
 * Reads an answer and settles once. From the moment that a status has come it counts, whatever becomes of the rest: that is
 * read until its end, 64 kB, or the end of the request, and is never decompressed. `isComplete`: the connection can be used again.
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
      if (readBytes >= bytesMax) end('invalid-answer')
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
