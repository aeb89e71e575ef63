import { readFileSync } from 'node:fs'
import {
  NotOfRoleError,
  type Clock,
  type Gateway,
  type Operator,
  type OperatorAccess,
  type OperatorSession,
  type SignedIn,
} from '@gateway/core'
import {
  clientAddress,
  clientNetwork,
  comesFrom,
  createServiceApp,
  fallbackHandler,
  onError,
  prepareResponse,
  publicDocuments,
  readBody,
  requestQuery,
  withPlace,
  type AdmissionGate,
  type HealthSettings,
  type Log,
  type Metrics,
} from '@gateway/server'
import { Router, type Express, type Request, type RequestHandler, type Response } from 'express'
import helmet from 'helmet'
import { Fields, formBytesMax } from './forms.ts'
import { renderPage, type Frame, type PageLink } from './layout.tsx'
import { follow, type Followers, type Look } from './live.ts'
import type { Answer, GoTo, OperatorVisit, Page, View, Visit } from './page.ts'
import { forbidden, missing, notOfRole, tooLarge, trouble, unavailable } from './pages/errors.tsx'
import { pages } from './pages/index.ts'
import { formToken, isFormToken, isSameOrigin, keepSession, sessionToken, type SessionOf } from './session.ts'

export interface PortalSettings {
  readonly clock: Clock
  /** Lets operators in; without it their pages are not there. */
  readonly operators?: OperatorAccess | undefined
  readonly gate: AdmissionGate
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** Pages of the same host that whoever is not signed in finds a link to. */
  readonly links?: readonly PageLink[] | undefined
}

export interface PortalServerSettings extends PortalSettings {
  readonly health?: HealthSettings
}

/** Nothing is loaded from another host, nothing runs that is not a file of ours, and no other page shows ours. */
const secureHeaders = (): RequestHandler =>
  helmet({
    // The TLS proxy in front decides: a page that was seen over TLS once must not be lost to plain local use.
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        ...{ scriptSrc: ["'self'"], styleSrc: ["'self'"], imgSrc: ["'self'"], connectSrc: ["'self'"] },
        ...{ formAction: ["'self'"], baseUri: ["'none'"], frameAncestors: ["'none'"] },
      },
    },
  })

const file = (name: string) => readFileSync(new URL(`../assets/${name}`, import.meta.url))

const assets = new Map(
  (
    [
      ['portal.css', 'css'],
      ['portal.js', 'js'],
      ['icon.svg', 'svg'],
    ] as const
  ).map(([name, type]) => [`/assets/${name}`, { type, read: () => file(name) }]),
)

/** The pages of the portal, for any Express app at any path; other paths pass to the next handler. */
export function portalRouter(gateway: Gateway, settings: PortalSettings): Router {
  const { log, metrics, gate } = settings
  const router = Router({ caseSensitive: true, strict: true })
  const begin = prepareResponse({ log, metrics, service: 'portal' })
  const secure = secureHeaders()
  const prepare: RequestHandler = (request, response, next) => {
    begin(response)
    response.set('Cache-Control', 'no-store')
    secure(request, response, next)
  }
  const serving = { ...settings, gateway, followers: new Map<string, number>() }
  for (const page of pages) {
    const { submit } = page
    router.get(page.path, prepare, (request, response) => serve(serving, page, request, response))
    if (submit !== undefined)
      router.post(page.path, prepare, (request, response) => serve(serving, page, request, response))
  }
  router.use(publicDocuments(assets, gate))
  const answerError = onError(log, (request, response) => write(response, trouble, outside(serving, request)))
  return router.use(answerError)
}

/** An app with the portal, health and metrics, and a page that says so on any other path. */
export const createPortalServer = (gateway: Gateway, settings: PortalServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'portal',
    mounted: ['/', portalRouter(gateway, settings)],
    notFound: fallbackHandler({ ...settings, service: 'portal' }, (response) => {
      secureHeaders()(response.req as Request, response as Response, () => undefined)
      write(response as Response, missing, outside(settings, response.req as Request))
    }),
    answerError: (request, response) => write(response, trouble, outside(settings, request)),
  })

interface Serving extends PortalSettings {
  readonly gateway: Gateway
  readonly followers: Followers
}

/** What surrounds a page of somebody who is not signed in. */
const outside = ({ clock, links = [] }: PortalSettings, { baseUrl }: Request): Frame => ({
  ...{ base: baseUrl, token: '', now: clock.now(), signedIn: undefined, operator: undefined },
  links: links.map(({ path, title }) => ({ path: baseUrl + path, title })),
})

async function serve(serving: Serving, page: Page, request: Request, response: Response): Promise<void> {
  const { gate } = serving
  const network = clientNetwork(request)
  // Signing in waits for a turn of its own, which may take long.
  const entered = page.who === 'anybody' ? gate.enter(network) : gate.enterSlow(network)
  const done = await withPlace(entered, request.method !== 'POST', async () => {
    const isPage = request.method === 'POST' || request.get('accept') !== 'text/event-stream'
    const who = await whoIs(serving, page, request, isPage)
    await serveVisitor(serving, page, { request, response, ...who, frame: frameOf(serving, request, who), isPage })
    return true
  })
  if (done === undefined) write(response, unavailable, outside(serving, request))
}

/** Who asks: for pages of operators an operator, for all others an account holder. */
interface Who {
  readonly token: string | undefined
  readonly signedIn: SignedIn | undefined
  readonly operator: { readonly operator: Operator; readonly session: OperatorSession } | undefined
}

async function whoIs({ gateway, operators }: Serving, page: Page, request: Request, isUse: boolean): Promise<Who> {
  const token = sessionToken(request, page.who === 'operator' ? 'operator' : 'holder')
  const nobody = { token, signedIn: undefined, operator: undefined }
  if (token === undefined) return nobody
  if (page.who === 'operator') return { ...nobody, operator: await operators?.signIn.findOperatorSession(token, isUse) }
  return { ...nobody, signedIn: await gateway.findSession(token, comesFrom(request), isUse) }
}

function frameOf(serving: Serving, request: Request, { token, signedIn, operator }: Who): Frame {
  const isSignedIn = token !== undefined && (signedIn ?? operator) !== undefined
  return {
    ...outside(serving, request),
    ...(isSignedIn && { signedIn, operator: operator?.operator, token: formToken(token) }),
  }
}

const isSignedIn = ({ signedIn, operator }: Who): boolean => (signedIn ?? operator) !== undefined

interface Visitor extends Who {
  readonly request: Request
  readonly response: Response
  readonly frame: Frame
  readonly isPage: boolean
}

async function serveVisitor(serving: Serving, page: Page, visitor: Visitor): Promise<void> {
  const { request, response, isPage } = visitor
  if (page.who === 'operator' && serving.operators === undefined) answer(visitor, 'not-found')
  else if (request.method === 'POST') await submit(serving, page, visitor)
  else if (page.who !== 'anybody' && !isSignedIn(visitor)) {
    // An event source would ask again after any other answer.
    if (isPage) goTo(visitor, { goTo: signInFor(page, request) })
    else response.status(204).end()
  } else {
    const shown = await showOf(page, serving, visitor)
    if (isPage) answer(visitor, shown)
    else followPage(serving, page, visitor, shown)
  }
}

async function submit(serving: Serving, page: Page, visitor: Visitor): Promise<void> {
  const { request, response, token, frame } = visitor
  const fields = await submitted(serving, request)
  if (typeof fields === 'string') {
    if (fields !== 'aborted') write(response, fields === 'too-large' ? tooLarge : unavailable, frame)
    return
  }
  const isOurs = token === undefined || !isSignedIn(visitor) || isFormToken(fields.text('token'), token)
  if (!isSameOrigin(request) || !isOurs) write(response, forbidden, frame)
  else if (page.who !== 'anybody' && !isSignedIn(visitor)) goTo(visitor, { goTo: signInFor(page, request) })
  else answer(visitor, await submitOf(page, serving, visitor, fields).catch(refusedByRole))
}

function followPage(serving: Serving, page: Page, visitor: Visitor, shown: Answer): void {
  const { response, signedIn, operator, frame } = visitor
  follow(serving.followers, response, {
    owner: operator === undefined ? String(signedIn?.account.id) : `operator ${operator.operator.id}`,
    first: lookOf(shown, frame),
    again: () => again(serving, page, visitor),
  })
}

/** What has become of a page that somebody looks at; undefined: nobody is signed in any more, or it is not there. */
async function again(serving: Serving, page: Page, visitor: Visitor): Promise<Look | undefined> {
  const { request } = visitor
  return withPlace(serving.gate.enterSlow(clientNetwork(request)), true, async () => {
    const who = await whoIs(serving, page, request, false)
    if (!isSignedIn(who)) return undefined
    return lookOf(await showOf(page, serving, { ...visitor, ...who }), frameOf(serving, request, who))
  })
}

const lookOf = (shown: Answer, frame: Frame): Look | undefined =>
  typeof shown === 'object' && 'main' in shown
    ? { page: renderPage(shown, frame), isLive: shown.live === true }
    : undefined

function visitOf({ gateway, operators, clock }: Serving, { request }: Visitor): Visit {
  return {
    ...{ gateway, operators, now: clock.now(), parameters: request.params as Visit['parameters'] },
    query: new URLSearchParams(requestQuery(request)),
    browser: { agent: request.get('user-agent') ?? '', address: clientAddress(request) },
    ...{ network: clientNetwork(request), comesFrom: comesFrom(request) },
  }
}

function showOf(page: Page, serving: Serving, visitor: Visitor): Answer | Promise<Answer> {
  const visit = visitOf(serving, visitor)
  if (page.who === 'anybody') return page.show(visit)
  if (page.who === 'operator') {
    const asked = operatorVisit(visit, visitor)
    return asked === undefined ? 'not-found' : page.show(asked)
  }
  return visitor.signedIn === undefined ? 'not-found' : page.show({ ...visit, ...visitor.signedIn })
}

async function submitOf(page: Page, serving: Serving, visitor: Visitor, fields: Fields): Promise<Answer> {
  const visit = visitOf(serving, visitor)
  if (page.who === 'anybody') return page.submit?.(visit, fields) ?? 'not-found'
  if (page.who === 'operator') {
    const asked = operatorVisit(visit, visitor)
    return asked === undefined ? 'not-found' : (page.submit?.(asked, fields) ?? 'not-found')
  }
  const { signedIn } = visitor
  return signedIn === undefined ? 'not-found' : (page.submit?.({ ...visit, ...signedIn }, fields) ?? 'not-found')
}

function refusedByRole(problem: unknown): View {
  if (problem instanceof NotOfRoleError) return notOfRole
  throw problem
}

function operatorVisit(visit: Visit, { operator }: Visitor): OperatorVisit | undefined {
  if (visit.operators === undefined || operator === undefined) return undefined
  return { ...visit, ...operator, backOffice: visit.operators.as(operator.operator, visit.browser.address) }
}

async function submitted(
  { gate }: Serving,
  request: Request,
): Promise<Fields | 'too-large' | 'overloaded' | 'aborted'> {
  const place = gate.bodies.open(clientNetwork(request))
  try {
    const body = await readBody(request, formBytesMax, place)
    if (typeof body === 'string') return body
    if (!('parsed' in body)) return new Fields(body.toString('utf8'))
    return new Fields(typeof body.parsed === 'object' && body.parsed !== null ? body.parsed : {})
  } finally {
    place.release()
  }
}

/** Where somebody signs in and comes back to the page that was asked for. */
function signInFor({ who, path }: Page, { method, url }: Request): string {
  const signIn = who === 'operator' ? '/operator/sign-in' : '/sign-in'
  const isFirst = path === '/' || path === '/operator'
  return isFirst || method !== 'GET' ? signIn : `${signIn}?to=${encodeURIComponent(url)}`
}

function answer(visitor: Visitor, given: Answer): void {
  const { response, frame } = visitor
  if (given === 'not-found') write(response, missing, frame)
  else if ('goTo' in given) goTo(visitor, given)
  else write(response, given, frame)
}

function goTo({ request, response, frame }: Visitor, given: GoTo): void {
  const { goTo: path, session, operatorSession } = given
  const keep = (of: SessionOf, kept: NonNullable<GoTo['session']>) =>
    keepSession(request, response, of, kept === 'ended' ? undefined : kept.token)
  if (session !== undefined) keep('holder', session)
  if (operatorSession !== undefined) keep('operator', operatorSession)
  response.redirect(303, frame.base + path)
}

function write(response: Response, view: View, frame: Frame): void {
  if (view.retryAfterSeconds !== undefined) response.set('Retry-After', String(view.retryAfterSeconds))
  response
    .status(view.status ?? 200)
    .set('Cache-Control', 'no-store')
    .type('html')
    .send(renderPage(view, frame))
}
