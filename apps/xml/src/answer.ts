import type { ServerResponse } from 'node:http'
import type { OverLimit } from '@gateway/core'
import { endResponse, setHeaders, type ConfirmedResponses } from '@gateway/server'
import { ERROR, type Trouble } from './words.ts'
import { leaf } from './writing/rendered.ts'

/** The content of the answer's root: rendered elements, or an `Error`. */
export type Answer = Rendered | Taken | Failure

/** Its content is taken out of it when it is written: what it passes through would keep it (decision 0061). */
export interface Rendered {
  content: string
}

/** Returned once: offered again if the connection fails before the response is confirmed (ruling 1.20). */
export interface Taken {
  readonly content: string
  readonly offerAgain: () => Promise<void>
}

export interface Failure {
  readonly trouble: Trouble
  /** The value of Retry-After. */
  readonly retryAfterSeconds?: number
}

/** Refused, with nothing done (ruling 1.25). */
export const overloaded: Failure = { trouble: 'unavailable', retryAfterSeconds: 1 }

/** More requests or recipients a second than its operator lets the account have; nothing was done (ruling 1.25). */
export const overLimit = ({ overLimitSeconds }: OverLimit): Failure => ({
  trouble: 'too-many-requests',
  retryAfterSeconds: overLimitSeconds,
})

const errorElement = leaf('Error')

/** Writes an answer as a document; `inRoot` renders the root around its content (ruling 4.7). */
export function writeAnswer(
  response: ServerResponse,
  inRoot: (content: string) => string,
  answer: Exclude<Answer, Taken>,
): void {
  const { status, content } = 'content' in answer ? { status: 200, content: takenFrom(answer) } : inError(answer)
  if ('retryAfterSeconds' in answer) response.setHeader('Retry-After', String(answer.retryAfterSeconds))
  if (status === 405) response.setHeader('Allow', 'POST')
  setHeaders(response, status, contentType)
  endResponse(response, inRoot(content))
}

/** Sends any answer; one that is returned once as a confirmed response. */
export function sendAnswer(
  response: ServerResponse,
  inRoot: (content: string) => string,
  answer: Answer,
  confirmedResponses: ConfirmedResponses,
): void {
  if ('offerAgain' in answer) {
    setHeaders(response, 200, contentType)
    confirmedResponses.end(response, inRoot(answer.content), answer.offerAgain)
  } else writeAnswer(response, inRoot, answer)
}

function takenFrom(answer: Rendered): string {
  const { content } = answer
  answer.content = ''
  return content
}

export const lengthOf = (answer: Answer): number => ('content' in answer ? answer.content.length : 0)

export const contentType = 'text/xml; charset=utf-8'

export function inError({ trouble }: Failure) {
  const { status, text } = ERROR[trouble]
  return { status, content: errorElement(text) }
}
