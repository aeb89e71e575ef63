import type { ServerResponse } from 'node:http'
import type { OverLimit } from '@gateway/core/accounts'
import { keyCharactersMax } from '@gateway/core/client-requests'
import { referenceCharactersMax, type Refusal, sendOptionNames, type SendOptionName } from '@gateway/core/messages'
import { type ConfirmedResponses, endResponse, setHeaders } from '@gateway/server'
import { optionWords } from '@gateway/wire'
import { leaf } from './rendered.ts'

/** Values of `ID` for refused recipients (spec 7.3). */
export const REFUSAL = {
  'account-locked': 'ACCOUNTLOCKED',
  'no-message': 'FAIL:NO MESSAGE',
  'too-long': 'FAIL:TOOLONG',
  'no-number': 'FAIL:NO NUMBER',
  'invalid-number': 'FAIL:BADDEST',
  blacklisted: 'FAIL:BADDEST',
  'trial-to-self': 'FAIL:TRIALNOT2SELF',
  'opted-out': 'FAIL:OPTEDOUT',
  'do-not-contact': 'FAIL:WASPADNC',
  'insufficient-credits': 'NOCREDITS',
} as const satisfies Record<Refusal, string>

type UnusableOption = `unusable-${SendOptionName}`

/** Errors in the content of a well-formed document. */
export type Flaw =
  | 'not-valid'
  | 'too-many-numbers'
  | 'too-many-message-ids'
  | 'invalid-date'
  | 'unusable-client-ref'
  | 'unusable-reference'
  | UnusableOption
  | 'invalid-sender'

/** Reason for an `Error` element. */
export type Trouble =
  | Flaw
  | 'wrong-credentials'
  | 'too-many-failures'
  | 'too-many-requests'
  | 'too-large'
  | 'wrong-method'
  | 'another-request'
  | 'unavailable'

const unusableOptions = Object.fromEntries(
  sendOptionNames.map((name) => {
    const { xml, form } = optionWords(name)
    return [`unusable-${name}`, { status: 200, text: `${xml} must be ${form}` }]
  }),
) as Readonly<Record<UnusableOption, { readonly status: 200; readonly text: string }>>

/**
 * Text of the `Error` element (spec 7.3; rulings 1.24, 1.25, 1.26, 4.6) and HTTP status, which is 200 for the errors of
 * the specification (ruling 4.7).
 */
export const ERROR = {
  'not-valid': { status: 200, text: 'Not Valid XML Document' },
  'wrong-credentials': { status: 200, text: 'Authentication failed' },
  'too-many-numbers': { status: 200, text: 'Too Many Numbers' },
  'too-many-message-ids': { status: 200, text: 'Too Many Message IDs' },
  'invalid-date': { status: 200, text: 'Invalid Date' },
  'too-many-failures': { status: 429, text: 'Too many failed log-ins' },
  'too-many-requests': { status: 429, text: 'Too many requests' },
  'too-large': { status: 413, text: 'Body too large' },
  'wrong-method': { status: 405, text: 'Method not allowed' },
  'unusable-client-ref': { status: 200, text: `ClientRef must be 1 to ${keyCharactersMax} printable characters` },
  'unusable-reference': {
    status: 200,
    text: `Reference must be up to ${referenceCharactersMax} characters without control characters`,
  },
  ...unusableOptions,
  'invalid-sender': { status: 200, text: 'Invalid sender' },
  'another-request': { status: 200, text: 'clientref was used for another request' },
  unavailable: { status: 503, text: 'Service unavailable' },
} as const satisfies Record<Trouble, { readonly status: number; readonly text: string }>

/** Status of a message that was not looked up (spec 4.3, rule 5). */
export const SKIPPED = { word: 'SKIPPED', code: 108 } as const

/** Content of the root of a response: rendered elements, a return-once result, or an error. */
export type Answer = Rendered | ReturnOnce | Failure

/**
 * Rendered content. Writing the response removes the text from this object, because the objects through which a
 * response passes would otherwise keep the text in memory (decision 0061).
 */
export interface Rendered {
  content: string
}

/** Return-once result. It is offered again if the connection fails before the response is confirmed (ruling 1.20). */
export interface ReturnOnce {
  readonly content: string
  readonly offerAgain: () => Promise<void>
}

export interface Failure {
  readonly trouble: Trouble
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds?: number
}

/** Overload: nothing was done (ruling 1.25). */
export const overloaded: Failure = { trouble: 'unavailable', retryAfterSeconds: 1 }

/**
 * Returns the refusal of an account that exceeds its limit of requests or recipients per second. Nothing was done
 * (ruling 1.25).
 */
export const overLimit = ({ overLimitSeconds }: OverLimit): Failure => ({
  trouble: 'too-many-requests',
  retryAfterSeconds: overLimitSeconds,
})

export const errorElement = leaf('Error')

/** Writes a response as a document. `inRoot` renders the root around the content (ruling 4.7). */
export function writeAnswer(
  response: ServerResponse,
  inRoot: (content: string) => string,
  answer: Exclude<Answer, ReturnOnce>,
): void {
  const { status, content } = 'content' in answer ? { status: 200, content: takenFrom(answer) } : inError(answer)
  if ('retryAfterSeconds' in answer) response.setHeader('Retry-After', String(answer.retryAfterSeconds))
  if (status === 405) response.setHeader('Allow', 'POST')
  setHeaders(response, status, contentType)
  endResponse(response, inRoot(content))
}

/** Sends a response. A return-once result is sent as a confirmed response. */
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
