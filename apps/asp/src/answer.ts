import type { ServerResponse } from 'node:http'
import type { OverLimit } from '@gateway/core/accounts'
import { keyCharactersMax } from '@gateway/core/client-requests'
import type { InboxMessage, ConsumedMessages } from '@gateway/core/inbox'
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
 * Response of an endpoint: a text of the specification (HTTP 200), a return-once result, a streamed list, or a failure
 * with another status.
 */
export type Answer = string | ReturnOnce | Listed | Failure

/** Return-once result. It is offered again if the connection fails before the response is confirmed (ruling 1.20). */
export interface ReturnOnce {
  readonly text: string
  readonly offerAgain: () => Promise<void>
}

/** List that may be too long to hold in memory and is therefore streamed (ruling 3.2). */
export interface Listed {
  /** Owner of the list, as `AdmissionGate` names it. */
  readonly owner: string
  readonly items: AsyncIterable<string>
}

export interface Failure {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** Returns an error text of the interface (spec 7.2). */
export const errorText = (message: string): string => `Error="${message}"`

export const failure = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Failure => ({
  status,
  text,
  headers,
})

export const noSuchPath = failure(404, 'Not found')
export const wrongMethod = failure(405, errorText('Method not allowed'), { Allow: 'GET, POST' })
export const bodyTooLarge = failure(413, errorText('Body too large'))
/** Internal failure (ruling 1.25). It has no `Retry-After`, because a send may have happened. */
export const unavailable = failure(503, errorText('Service unavailable'))
/** Overload: nothing was done, and the client may repeat the request (ruling 1.25). */
export const overloaded = failure(503, errorText('Service unavailable'), { 'Retry-After': '1' })
/**
 * Returns the refusal of an account that exceeds its limit of requests or recipients per second. Nothing was done
 * (ruling 1.25).
 */
export const overLimit = ({ overLimitSeconds }: OverLimit): Failure =>
  failure(429, errorText('Too many requests'), { 'Retry-After': String(overLimitSeconds) })
/** Returns the refusal after too many wrong passwords (ruling 1.26). */
export const tooManyLogIns = (retryAfterSeconds: number): Failure =>
  failure(429, errorText('Too many failed log-ins'), { 'Retry-After': String(retryAfterSeconds) })
/** Refusal of a `clientref` that was used for another request (ruling 1.24). */
export const anotherRequest = errorText('clientref was used for another request')
export const unusableReference = errorText(`clientref must be 1 to ${keyCharactersMax} printable characters`)
/** Refusal of a `reference` that cannot be stored (ruling 1.28). */
export const unusableMessageReference = errorText(
  `reference must be up to ${referenceCharactersMax} characters without control characters`,
)
/** Returns the refusal of a send because of an invalid option (ruling 1.29). */
export function unusableOption(name: SendOptionName): string {
  const { query, form, queryUnit = '' } = optionWords(name)
  return errorText(`${query} must be ${form}${queryUnit}`)
}
/** Refusal of a `sender` that is malformed or that the account may not use (ruling 1.27). */
export const invalidSender = errorText('Invalid sender')
export const referenceErrors = [unusableReference, anotherRequest]

/** Writes a complete response with its length (ruling 3.2). */
export function writeAnswer(response: ServerResponse, answer: string | Failure): void {
  const { status, text, headers } = typeof answer === 'string' ? failure(200, answer) : answer
  setHeaders(response, status, contentType, headers)
  endResponse(response, text)
}

/**
 * Sends a response. A complete response is written at once. Rejects if a streamed list fails; such a failure has had no
 * effect (ruling 1.25).
 */
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

/** Escapes a value that is echoed in a list, so that it cannot look like the end of a field or item (ruling 3.6). */
export const echoed = (value: string): string =>
  /[&;=%\p{Cc}]/u.test(value) ? value.replace(/[&;=%\p{Cc}]/gu, encodeURIComponent) : value

/**
 * Joins the items of a list. Every item ends with `&`, including the last. An empty list is an empty text (ruling 3.2).
 */
export const listAnswer = (items: readonly string[]): string => items.map((item) => `${item}&`).join('')

/** Returns the response of a return-once call (ruling 1.20). */
export async function takenAnswer(
  messages: ConsumedMessages,
  item: (message: InboxMessage) => string,
): Promise<Answer> {
  if (messages.messages.length === 0) return ''
  return { text: listAnswer(await inSlices(messages.messages, item)), offerAgain: () => messages.offerAgain() }
}

export const replyForm = 'CLI=<number>;DateReceived=<minute>;Message=<text>;SentMessageID=<message id or nothing>&'

/**
 * Returns the item for a reply or an opt-out (spec 4.2, rule 4). The last value is empty if there is no message that it
 * answers (ruling 1.18).
 */
export const replyItem = (from: string, at: Instant, text: string, answers: MessageId | undefined): string =>
  `CLI=${echoed(from)};DateReceived=${formatMinute(at)};Message=${echoed(text)};SentMessageID=${answers ?? ''}`

/** Returns the item for a short code message (spec 4.2, rule 4). */
export const shortCodeItem = ({ shortCode, from, at, text }: InboxMessage): string =>
  `SC=${shortCode ?? ''};CLI=${echoed(from)};DateReceived=${formatMinute(at)};Message=${echoed(text)}`
