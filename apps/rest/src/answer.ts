import type { ServerResponse } from 'node:http'
import { formatStamp, type Instant } from '@gateway/core'

/** An answer without its envelope: the fields of a success as JSON text (`"creditBalance":100.0`), or a failure. */
export type Answer = string | Failure

export interface Failure {
  readonly status: number
  readonly errorMessage: string
  readonly headers: Readonly<Record<string, string>>
}

export const failure = (
  status: number,
  errorMessage: string,
  headers: Readonly<Record<string, string>> = {},
): Failure => ({ status, errorMessage, headers })

export const isFailure = (value: object | string): value is Failure =>
  typeof value === 'object' && 'errorMessage' in value

/** Refused before anything was done; the same request may come again (ruling 1.25). */
export const overloaded = failure(503, 'The service is busy. Try again later.', { 'Retry-After': '1' })

/** What the interface has and this version has not. */
export const notAvailable = (what: string): Failure => failure(501, `${what} is not available in this version.`)

/** Writes an answer in its envelope (spec 2; ruling 2.1). */
export function writeAnswer(response: ServerResponse, answer: Answer, now: Instant): void {
  const { status, fields, headers } =
    typeof answer === 'string' ? { status: 200, fields: answer, headers: {} } : inFields(answer)
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Cache-Control', 'no-store')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(`{"timeStamp":"${formatStamp(now)}","version":"1.0","statusCode":${status},${fields}}`)
}

const inFields = ({ status, errorMessage, headers }: Failure) => ({
  status,
  fields: `"errorMessage":${JSON.stringify(errorMessage)}`,
  headers,
})
