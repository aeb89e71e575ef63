import { clientNetwork, readBody, withPlace, type BodyPlace } from '@gateway/server'
import type { Request, Response } from 'express'
import { Fields, formBytesMax, readMultipart, storable, uploadBytesMax } from './forms.ts'
import { renderPage, type Frame } from './layout.tsx'
import { askAgainLater, follow, type Look } from './live.ts'
import { mayChange } from './page-roles.ts'
import type { Answer, Download, Page } from './page.ts'
import { forbidden, notOfRole, tooLarge, unavailable } from './pages/errors.tsx'
import { outside, type Serving } from './serving.ts'
import { isFormToken, isSameOrigin } from './session.ts'
import { refusedByRole, showOf, submitOf } from './visit.ts'
import { frameOf, isSignedIn, whoIs, type Visitor } from './visitor.ts'
import { answer, goTo, write, writeFile } from './write-answer.ts'

/** Answers a request for a page. */
export async function serve(serving: Serving, page: Page, request: Request, response: Response): Promise<void> {
  if (request.method !== 'POST') return serveInTurn(serving, page, request, response)
  const place = serving.gate.bodies.open(clientNetwork(request))
  try {
    // While its body arrives, a request occupies no place of the gate (P-13).
    const fields = await fieldsIn(serving, page, request, place)
    if (typeof fields === 'object') await serveInTurn(serving, page, request, response, fields)
    else if (fields !== 'aborted')
      write(response, fields === 'too-large' ? tooLarge : unavailable, outside(serving, request))
  } finally {
    place.release()
  }
}

/**
 * Enters the gate. Sign-in pages do not enter the slow queue, because checks of passwords have a queue of their own.
 */
const enter = ({ gate }: Serving, { audience }: Page, request: Request) =>
  audience === 'anybody' ? gate.enter(clientNetwork(request)) : gate.enterSlow(clientNetwork(request))

/** Reads the form of a request. Only visitors who are signed in can upload a large file. */
async function fieldsIn(
  serving: Serving,
  page: Page,
  request: Request,
  place: BodyPlace,
): ReturnType<typeof submitted> {
  if (page.takesFile !== true) return submitted(request, formBytesMax, place)
  const identity = await withPlace(enter(serving, page, request), true, () => whoIs(serving, page, request, false))
  if (identity === undefined) return 'overloaded'
  return submitted(request, isSignedIn(identity) ? uploadBytesMax : formBytesMax, place)
}

async function submitted(
  request: Request,
  bytesMax: number,
  place: BodyPlace,
): Promise<Fields | 'too-large' | 'overloaded' | 'aborted'> {
  const type = request.get('content-type') ?? ''
  const body = await readBody(request, bytesMax, place)
  if (typeof body === 'string') return body
  if ('parsed' in body) return new Fields(typeof body.parsed === 'object' && body.parsed !== null ? body.parsed : {})
  return /^multipart\/form-data\b/i.test(type) ? readMultipart(type, body) : new Fields(body.toString('utf8'))
}

async function serveInTurn(serving: Serving, page: Page, request: Request, response: Response, fields?: Fields) {
  const isPage = fields !== undefined || request.get('accept') !== 'text/event-stream'
  const done = await withPlace(enter(serving, page, request), fields === undefined, async () => {
    const identity = await whoIs(serving, page, request, isPage)
    const visitor = { ...{ request, response, ...identity, frame: frameOf(serving, request, identity), isPage } }
    return { download: await serveVisitor(serving, page, visitor, fields) }
  })
  if (done === undefined && isPage) write(response, unavailable, outside(serving, request))
  else if (done === undefined) askAgainLater(response)
  else if (done.download !== undefined) await writeFile(serving, request, response, done.download)
}

/** Layout of each response, by which an error page can show the menu too. */
export const framesOf = new WeakMap<Response, Frame>()

/** Answers a visitor. If the answer is a file, returns the file instead, and the caller writes it. */
async function serveVisitor(
  serving: Serving,
  page: Page,
  visitor: Visitor,
  fields: Fields | undefined,
): Promise<Download | undefined> {
  const { request, response, isPage } = visitor
  framesOf.set(response, visitor.frame)
  if (page.audience === 'operator' && serving.operators === undefined) answer(visitor, 'not-found')
  else if (isSignedIn(visitor) && namesNothing(request)) answer(visitor, 'not-found')
  else if (fields !== undefined) return submit(serving, page, visitor, fields)
  else if (page.audience !== 'anybody' && !isSignedIn(visitor)) {
    // Respond with 204, because an event source repeats its request after any other response.
    if (isPage) goTo(visitor, { goTo: signInFor(page, request) })
    else response.status(204).end()
  } else {
    const shown = await showOf(page, serving, visitor)
    if (!isPage) followPage(serving, page, visitor, shown)
    else if (isFile(shown)) return shown
    else answer(visitor, shown)
  }
  return undefined
}

/** Returns true if a parameter of the path has a character that the store cannot keep. */
const namesNothing = ({ params }: Request): boolean =>
  Object.values(params).some((value) => [value].flat().some((one) => storable(one) !== one))

const isFile = (result: Answer): result is Download => typeof result === 'object' && 'rows' in result

export async function submit(
  serving: Serving,
  page: Page,
  visitor: Visitor,
  fields: Fields,
): Promise<Download | undefined> {
  const { request, response, token, frame } = visitor
  const isOurs = token === undefined || !isSignedIn(visitor) || isFormToken(fields.text('token'), token)
  if (!isSameOrigin(request) || !isOurs) write(response, forbidden, frame)
  else if (page.audience !== 'anybody' && !isSignedIn(visitor)) goTo(visitor, { goTo: signInFor(page, request) })
  else if (visitor.signedIn !== undefined && !mayChange(visitor.signedIn.role, page)) write(response, notOfRole, frame)
  else {
    const result = await submitOf(page, serving, visitor, fields).catch(refusedByRole)
    if (isFile(result)) return result
    answer(visitor, result)
  }
  return undefined
}

/**
 * Returns the path of the sign-in page with the requested page to return to. If a form was submitted, the sign-in page
 * says that nothing was done.
 */
function signInFor({ audience, path }: Page, { method, url }: Request): string {
  const signIn = audience === 'operator' ? '/operator/sign-in' : '/sign-in'
  const isForm = method !== 'GET' && !path.endsWith('/sign-out')
  const isFirst = path === '/' || path === '/operator' || path.endsWith('/sign-out')
  const query = new URLSearchParams({ ...(!isFirst && { to: url }), ...(isForm && { ended: 'form' }) }).toString()
  return query === '' ? signIn : `${signIn}?${query}`
}

function followPage(serving: Serving, page: Page, visitor: Visitor, shown: Answer): void {
  const { response, signedIn, operator, frame } = visitor
  follow(serving.followers, response, {
    owner: operator === undefined ? String(signedIn?.account.id) : `operator ${operator.operator.id}`,
    first: lookOf(shown, frame),
    again: () => again(serving, page, visitor),
  })
}

/** Renders a followed page again. Returns undefined if the session has ended or the page no longer exists. */
async function again(serving: Serving, page: Page, visitor: Visitor): Promise<Look | 'busy' | undefined> {
  const { request } = visitor
  const done = await withPlace(serving.gate.enterSlow(clientNetwork(request)), true, async () => {
    const identity = await whoIs(serving, page, request, false)
    if (!isSignedIn(identity)) return { look: undefined }
    const shown = await showOf(page, serving, { ...visitor, ...identity })
    return { look: lookOf(shown, frameOf(serving, request, identity)) }
  })
  return done === undefined ? 'busy' : done.look
}

const lookOf = (shown: Answer, frame: Frame): Look | undefined =>
  typeof shown === 'object' && 'main' in shown
    ? { page: renderPage(shown, frame), isLive: shown.live === true }
    : undefined
