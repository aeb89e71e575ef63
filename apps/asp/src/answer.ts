import type { ServerResponse } from 'node:http'
import type { OverLimit } from '@gateway/core/accounts'
import { keyCharactersMax } from '@gateway/core/client-requests'
import type { InboxMessage, TakenMessages } from '@gateway/core/inbox'
import { type MessageId, referenceCharactersMax, type SendOptionName } from '@gateway/core/messages'
import { formatMinute, type Instant } from '@gateway/core/time'
import { optionWords } from '@gateway/wire'
import {
  type AdmissionGate,
  type ConfirmedResponses,
  endResponse,
  inSlices,
  setHeaders,
  streamResponse,
  withoutEffect,
} from '@gateway/server'

/**
 * An answer of the specification as its text (HTTP 200), or as what is written of it bit by bit, or one with another
 * status.
 */
export type Answer = string | Taken | Listed | Failure

/** Returned once: offered again if the connection fails before the response is confirmed (ruling 1.20). */
export interface Taken {
  readonly text: string
  readonly offerAgain: () => Promise<void>
}

/** A list that may be longer than what a process should hold: it is streamed (ruling 3.2). */
export interface Listed {
  /** Whose list it is, as an owner of `AdmissionGate`. */
  readonly owner: string
  readonly items: AsyncIterable<string>
}

export interface Failure {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** The error form of the interface (spec 7.2). */
export const errorText = (message: string): string => `Error="${message}"`

export const failure = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Failure => ({
  status,
  text,
  headers,
})

export const noSuchPath = failure(404, 'Not found')
export const wrongMethod = failure(405, errorText('Method not allowed'), { Allow: 'GET, POST' })
export const bodyTooLarge = failure(413, errorText('Body too large'))
/** Our own trouble (ruling 1.25): without `Retry-After`, since nobody knows here whether a send has happened. */
export const unavailable = failure(503, errorText('Service unavailable'))
/** Refused before anything was done; the same request may come again (ruling 1.25). */
export const overloaded = failure(503, errorText('Service unavailable'), { 'Retry-After': '1' })
/** More requests or recipients a second than its operator lets the account have; nothing was done (ruling 1.25). */
export const overLimit = ({ overLimitSeconds }: OverLimit): Failure =>
  failure(429, errorText('Too many requests'), { 'Retry-After': String(overLimitSeconds) })
/** Wrong passwords (ruling 1.26). */
export const tooManyLogIns = (retryAfterSeconds: number): Failure =>
  failure(429, errorText('Too many failed log-ins'), { 'Retry-After': String(retryAfterSeconds) })
/** Its `clientref` has the answer to another request (ruling 1.24). */
export const anotherRequest = errorText('clientref was used for another request')
export const unusableReference = errorText(`clientref must be 1 to ${keyCharactersMax} printable characters`)
/** Its `reference` cannot be stored (ruling 1.28). */
export const unusableMessageReference = errorText(
  `reference must be up to ${referenceCharactersMax} characters without control characters`,
)
/** Refuses a send because of an option (ruling 1.29). */
export function unusableOption(name: SendOptionName): string {
  const { query, form, queryUnit = '' } = optionWords(name)
  return errorText(`${query} must be ${form}${queryUnit}`)
}
/** Its `sender` is none, or not one that the account may use (ruling 1.27). */
export const invalidSender = errorText('Invalid sender')
export const referenceErrors = [unusableReference, anotherRequest]

/** Writes an answer that is whole, with its length (ruling 3.2). */
export function writeAnswer(response: ServerResponse, answer: string | Failure): void {
  const { status, text, headers } = typeof answer === 'string' ? failure(200, answer) : answer
  setHeaders(response, status, contentType, headers)
  endResponse(response, text)
}

/** Gives any answer: one that is whole at once. Rejects if a list fails; that has read only (ruling 1.25). */
export function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  { gate, confirmedResponses }: { readonly gate: AdmissionGate; readonly confirmedResponses: ConfirmedResponses },
): void | Promise<void> {
  if (typeof answer === 'string' || 'status' in answer) {
    writeAnswer(response, answer)
    return
  }
  setHeaders(response, 200, contentType)
  if ('offerAgain' in answer) {
    confirmedResponses.end(response, answer.text, answer.offerAgain)
    return
  }
  return withoutEffect(async () => {
    const outcome = await streamResponse(response, answer.items, { gate, owner: answer.owner })
    if (outcome === 'full') writeAnswer(response, overloaded)
  })
}

export const contentType = 'text/plain; charset=utf-8'

/** A value echoed in a list, which must not look like the end of a field or of an item (ruling 3.6). */
export const echoed = (value: string): string =>
  /[&;=%\p{Cc}]/u.test(value) ? value.replace(/[&;=%\p{Cc}]/gu, encodeURIComponent) : value

/** Every item ends with `&`, the last one too; an empty list is an empty text (ruling 3.2). */
export const listAnswer = (items: readonly string[]): string => items.map((item) => `${item}&`).join('')

/** What a return-once call returns (ruling 1.20). */
export async function takenAnswer(taken: TakenMessages, item: (message: InboxMessage) => string): Promise<Answer> {
  if (taken.messages.length === 0) return ''
  return { text: listAnswer(await inSlices(taken.messages, item)), offerAgain: () => taken.offerAgain() }
}

export const replyForm = 'CLI=<number>;DateReceived=<minute>;Message=<text>;SentMessageID=<message id or nothing>&'

/**
 * The pairs of a reply and of an opt-out (spec 4.2, rule 4). Without a message that it answers the last value is empty
 * (ruling 1.18).
 */
export const replyItem = (from: string, at: Instant, text: string, answers: MessageId | undefined): string =>
  `CLI=${echoed(from)};DateReceived=${formatMinute(at)};Message=${echoed(text)};SentMessageID=${answers ?? ''}`

/** The pairs of a short code message (spec 4.2, rule 4). */
export const shortCodeItem = ({ shortCode, from, at, text }: InboxMessage): string =>
  `SC=${shortCode ?? ''};CLI=${echoed(from)};DateReceived=${formatMinute(at)};Message=${echoed(text)}`
