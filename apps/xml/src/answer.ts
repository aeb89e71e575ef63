import type { ServerResponse } from 'node:http'
import { endResponse, type ConfirmedResponses } from '@gateway/server'
import { ERROR, type Trouble } from './words.ts'
import { leaf } from './writing/rendered.ts'

/** What is in the root of the answer: elements that are written already, or an `Error`. */
export type Answer = { readonly content: string } | Taken | Failure

/** What is returned once: it is offered again if the connection fails before all of it was handed over (ruling 1.20). */
export interface Taken {
  readonly content: string
  readonly offerAgain: () => Promise<void>
}

export interface Failure {
  readonly trouble: Trouble
  /** When it makes sense to come again. */
  readonly retryAfterSeconds?: number
}

/** Refused before anything was done (ruling 1.25). */
export const overloaded: Failure = { trouble: 'unavailable', retryAfterSeconds: 1 }

const errorElement = leaf('Error')

/** Writes an answer as the document that `inRoot` makes of it (ruling 4.7). */
export function writeAnswer(
  response: ServerResponse,
  inRoot: (content: string) => string,
  answer: Exclude<Answer, Taken>,
): void {
  const { status, content } = 'content' in answer ? { status: 200, content: answer.content } : inError(answer)
  if ('retryAfterSeconds' in answer) response.setHeader('Retry-After', String(answer.retryAfterSeconds))
  if (status === 405) response.setHeader('Allow', 'POST')
  setHeaders(response, status)
  endResponse(response, inRoot(content))
}

/** Gives any answer. */
export function sendAnswer(
  response: ServerResponse,
  inRoot: (content: string) => string,
  answer: Answer,
  confirmedResponses: ConfirmedResponses,
): void {
  if ('offerAgain' in answer) {
    setHeaders(response, 200)
    confirmedResponses.end(response, inRoot(answer.content), answer.offerAgain)
  } else writeAnswer(response, inRoot, answer)
}

function setHeaders(response: ServerResponse, status: number): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'text/xml; charset=utf-8')
  response.setHeader('Cache-Control', 'no-store')
}

function inError({ trouble }: Failure) {
  const { status, text } = ERROR[trouble]
  return { status, content: errorElement(text) }
}
