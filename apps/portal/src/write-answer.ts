import { clientNetwork, requestIdHeader, streamResponse, withoutEffect } from '@gateway/server'
import { csvLine } from '@gateway/wire'
import type { Request, Response } from 'express'
import { renderPage, type Frame } from './layout.tsx'
import type { Answer, Download, GoTo, Keeping, View } from './page.ts'
import { missing, unavailable } from './pages/errors.tsx'
import { outside, type Serving } from './serving.ts'
import { keepSession, type SessionOf } from './session.ts'
import type { Visitor } from './visitor.ts'

export function answer(visitor: Visitor, result: Exclude<Answer, Download>): void {
  const { response, frame } = visitor
  if (result !== 'not-found') keepSessions(visitor, result)
  if (result === 'not-found') write(response, missing, frame)
  else if ('goTo' in result) goTo(visitor, result)
  else if ('leaveTo' in result) response.redirect(303, result.leaveTo.href)
  else write(response, result, frame)
}

function keepSessions({ request, response }: Visitor, { session, operatorSession, attempt }: Keeping): void {
  const keep = (of: SessionOf, change: NonNullable<Keeping['session']>) =>
    keepSession(request, response, of, change === 'ended' ? undefined : change.token)
  if (session !== undefined) keep('holder', session)
  if (operatorSession !== undefined) keep('operator', operatorSession)
  if (attempt !== undefined) keep('attempt', attempt)
}

export const goTo = ({ response, frame }: Visitor, { goTo: path }: GoTo): void =>
  response.redirect(303, frame.base + path)

/** Returns true for error statuses except 401 and 422, whose pages are forms that explain what to do. */
const isErrorPage = ({ status = 200 }: View): boolean => status >= 400 && status !== 401 && status !== 422

export function write(response: Response, view: View, frame: Frame): void {
  // With this header, a browser would save the error page as the file that could not be read.
  response.removeHeader('Content-Disposition')
  if (view.retryAfterSeconds !== undefined) response.set('Retry-After', String(view.retryAfterSeconds))
  response
    .status(view.status ?? 200)
    .set('Cache-Control', 'no-store')
    .type('html')
    .send(renderPage(view, isErrorPage(view) ? { ...frame, requestId: String(response.get(requestIdHeader)) } : frame))
}

/**
 * Streams a file. Occupies a place of the gate only while it waits for rows, so that a slow reader occupies none.
 * Rejects if the rows cannot be read. If nothing was written before, the response is then an error page.
 */
export async function writeFile({ gate, clock, links }: Serving, request: Request, response: Response, file: Download) {
  async function* lines(): AsyncIterable<string> {
    yield '\ufeff'
    for await (const row of file.rows) yield csvLine(row)
  }
  response.set('Content-Disposition', `attachment; filename="${file.fileName}"`).type('text/csv; charset=utf-8')
  const streaming = { gate, owner: clientNetwork(request) }
  const streamed = await withoutEffect(() => streamResponse(response, lines(), streaming))
  if (streamed === 'full') write(response, unavailable, outside({ clock, links }, request))
}
