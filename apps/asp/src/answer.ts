import type { ServerResponse } from 'node:http'

/** An answer of the specification as its text (HTTP 200), or one with another status. */
export type Answer = string | Failure

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
/** What the interface has and this version has not. */
export const notAvailable = failure(501, errorText('Not available in this version'))

/** Writes an answer (ruling 3.2); node adds its length. */
export function writeAnswer(response: ServerResponse, answer: Answer): void {
  const { status, text, headers } = typeof answer === 'string' ? failure(200, answer) : answer
  response.statusCode = status
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Cache-Control', 'no-store')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(text)
}
