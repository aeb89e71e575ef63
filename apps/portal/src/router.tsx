import { readFileSync } from 'node:fs'
import { type Gateway, mayHolder, type HolderAccess, type OperatorAccess } from '@gateway/core'
import {
  NotOfRoleError,
  roleOf,
  type HolderRole,
  type Operator,
  type OperatorSession,
  type SignedIn,
} from '@gateway/core/people'
import type { Clock } from '@gateway/core/time'
import {
  clientAddress,
  clientNetwork,
  comesFrom,
  createServiceApp,
  hadNoEffect,
  isProgrammingError,
  onError,
  prepareResponse,
  publicDocuments,
  readBody,
  requestIdHeader,
  requestQuery,
  streamResponse,
  withoutEffect,
  withPlace,
  type AdmissionGate,
  type BodyPlace,
  type HealthSettings,
  type Log,
  type Metrics,
  type OidcSettings,
} from '@gateway/server'
import {
  Router,
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import helmet from 'helmet'
import { csvLine } from '@gateway/wire'
import { Fields, formBytesMax, readMultipart, storable, uploadBytesMax } from './forms.ts'
import { renderPage, type Acting, type Frame, type PageLink } from './layout.tsx'
import { askAgainLater, follow, noFollowers, type Followers, type Look } from './live.ts'
import { oidcProvider, type OidcProvider } from './oidc.ts'
import type { Answer, Download, GoTo, HolderVisit, Keeping, OperatorVisit, Page, View, Visit } from './page.ts'
import { forbidden, missing, notOfRole, tooLarge, trouble, unanswerable, unavailable } from './pages/errors.tsx'
import { pages } from './pages/index.ts'
import { restOr } from './rest-paths.ts'
import { formToken, isFormToken, isSameOrigin, keepSession, sessionToken, type SessionOf } from './session.ts'

export interface PortalSettings {
  readonly clock: Clock
  /** What people may do who are signed in for an account. */
  readonly holders: HolderAccess
  /** Lets operators in; without it their pages are not there. */
  readonly operators?: OperatorAccess | undefined
  /** Where operators may sign in too. */
  readonly oidc?: OidcSettings | undefined
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

/** Files by their names at `/assets/`; islands are bundled by the build, also for whoever runs the sources. */
const assets = new Map(
  (
    [
      ['portal.css', 'css', '../assets/'],
      ['portal.js', 'js', '../assets/'],
      ['icon.svg', 'svg', '../assets/'],
      ['counter.js', 'js', '../dist/islands/'],
      ['fields.js', 'js', '../dist/islands/'],
      ['chart.js', 'js', '../dist/islands/'],
      ['quote.js', 'js', '../dist/islands/'],
      ['file.js', 'js', '../dist/islands/'],
      ['answer.js', 'js', '../dist/islands/'],
    ] as const
  ).map(([name, type, folder]) => [
    `/assets/${name}`,
    { type, read: () => readFileSync(new URL(folder + name, import.meta.url)) },
  ]),
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
  const provider = settings.oidc && oidcProvider(settings.oidc, { log, clock: settings.clock })
  const serving = { ...settings, gateway, provider, followers: noFollowers() }
  for (const page of pages) {
    const { submit } = page
    router.get(page.path, prepare, (request, response) => serve(serving, page, request, response))
    if (submit !== undefined)
      router.post(page.path, prepare, (request, response) => serve(serving, page, request, response))
  }
  router.use(publicDocuments(assets, gate))
  const answerError = onError(log, (request, response, _status, error) =>
    write(response, troubleOf(error), framesOf.get(response) ?? outside(serving, request)),
  )
  return router.use(undecodable(portalNotFound(gateway, settings)), answerError)
}

/** An app with the portal, health and metrics. A path that does not exist is answered with a page, or as REST does. */
export const createPortalServer = (gateway: Gateway, settings: PortalServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'portal',
    mounted: ['/', portalRouter(gateway, settings)],
    notFound: restOr(settings.clock, portalNotFound(gateway, settings)),
    answerError: (request, response, _status, error) => write(response, troubleOf(error), outside(settings, request)),
  })

/** Returns the page for an error that a page threw (ruling 1.25). */
const troubleOf = (error: unknown): View => (hadNoEffect(error) && !isProgrammingError(error) ? unanswerable : trouble)

/** Answers a path that cannot be decoded, such as `/inbox/%FF`, as one that is not there. */
const undecodable =
  (notFound: RequestHandler): ErrorRequestHandler =>
  (problem: unknown, request, response, next) =>
    problem instanceof URIError ? notFound(request, response, next) : next(problem)

/** Answers 404 with a page, which has the menu of whoever is signed in. */
export function portalNotFound(gateway: Gateway, settings: PortalSettings): RequestHandler {
  const { log, metrics, gate } = settings
  const begin = prepareResponse({ log, metrics, service: 'portal' })
  const secure = secureHeaders()
  const serving = { ...settings, gateway, provider: undefined, followers: noFollowers() }
  return (request, response, next) => {
    begin(response)
    response.set('Cache-Control', 'no-store')
    secure(request, response, () => {
      const who = request.path.startsWith('/operator') ? ('operator' as const) : ('holder' as const)
      const found = withPlace(gate.enterSlow(clientNetwork(request)), true, () =>
        whoIs(serving, { who }, request, false),
      )
      found
        .then((visitor) => {
          const frame = visitor === undefined ? outside(settings, request) : frameOf(serving, request, visitor)
          write(response, missing, frame)
        })
        .catch(next)
    })
  }
}

interface Serving extends PortalSettings {
  readonly gateway: Gateway
  readonly provider: OidcProvider | undefined
  readonly followers: Followers
}

/** What surrounds a page of somebody who is not signed in. */
const outside = ({ clock, links = [] }: Pick<PortalSettings, 'clock' | 'links'>, { baseUrl }: Request): Frame => ({
  ...{
    base: baseUrl,
    token: '',
    now: clock.now(),
    signedIn: undefined,
    operator: undefined,
    mayPost: () => true,
    maySee: () => true,
  },
  links: links.map(({ path, title }) => ({ path: baseUrl + path, title })),
})

async function serve(serving: Serving, page: Page, request: Request, response: Response): Promise<void> {
  if (request.method !== 'POST') return serveInTurn(serving, page, request, response)
  const place = serving.gate.bodies.open(clientNetwork(request))
  try {
    // A slow body holds no place of the gate (P-13).
    const fields = await fieldsIn(serving, page, request, place)
    if (typeof fields === 'object') await serveInTurn(serving, page, request, response, fields)
    else if (fields !== 'aborted')
      write(response, fields === 'too-large' ? tooLarge : unavailable, outside(serving, request))
  } finally {
    place.release()
  }
}

/** Signing in waits for a turn of its own, which may take long. */
const enter = ({ gate }: Serving, { who }: Page, request: Request) =>
  who === 'anybody' ? gate.enter(clientNetwork(request)) : gate.enterSlow(clientNetwork(request))

/** What a form has; whoever is not signed in uploads nothing large. */
async function fieldsIn(
  serving: Serving,
  page: Page,
  request: Request,
  place: BodyPlace,
): ReturnType<typeof submitted> {
  if (page.takesFile !== true) return submitted(request, formBytesMax, place)
  const who = await withPlace(enter(serving, page, request), true, () => whoIs(serving, page, request, false))
  if (who === undefined) return 'overloaded'
  return submitted(request, isSignedIn(who) ? uploadBytesMax : formBytesMax, place)
}

async function serveInTurn(serving: Serving, page: Page, request: Request, response: Response, fields?: Fields) {
  const isPage = fields !== undefined || request.get('accept') !== 'text/event-stream'
  const done = await withPlace(enter(serving, page, request), fields === undefined, async () => {
    const who = await whoIs(serving, page, request, isPage)
    const visitor = { ...{ request, response, ...who, frame: frameOf(serving, request, who), isPage } }
    return { download: await serveVisitor(serving, page, visitor, fields) }
  })
  if (done === undefined && isPage) write(response, unavailable, outside(serving, request))
  else if (done === undefined) askAgainLater(response)
  else if (done.download !== undefined) await writeFile(serving, request, response, done.download)
}

/**
 * Streams a file. Holds a place of the gate only while it waits for rows, so that a slow reader holds none. Rejects if
 * the rows cannot be read; the response is then an error page if nothing was written.
 */
async function writeFile({ gate, clock, links }: Serving, request: Request, response: Response, file: Download) {
  async function* lines(): AsyncIterable<string> {
    yield '\ufeff'
    for await (const row of file.rows) yield csvLine(row)
  }
  response.set('Content-Disposition', `attachment; filename="${file.fileName}"`).type('text/csv; charset=utf-8')
  const streaming = { gate, owner: clientNetwork(request) }
  const streamed = await withoutEffect(() => streamResponse(response, lines(), streaming))
  if (streamed === 'full') write(response, unavailable, outside({ clock, links }, request))
}

interface SignedInAs extends Omit<SignedIn, 'session'> {
  readonly session: Pick<SignedIn['session'], 'id'>
  readonly role: HolderRole
  /** The operator who looks at the account, and until when at the latest. */
  readonly acting?: Acting | undefined
}

const isFile = (given: Answer): given is Download => typeof given === 'object' && 'rows' in given

/** Who asks: for pages of operators an operator, for all others an account holder. */
interface Who {
  readonly token: string | undefined
  readonly signedIn: SignedInAs | undefined
  readonly operator: { readonly operator: Operator; readonly session: OperatorSession } | undefined
}

/** An operator who acts as an account looks at its pages; an own session there waits until that has ended. */
async function actingAs({ operators }: Serving, request: Request, isUse: boolean): Promise<Who | undefined> {
  const token = sessionToken(request, 'operator')
  if (token === undefined || operators === undefined) return undefined
  const { queries, commands } = operators.signIn
  const found = await (isUse ? commands.useActing(token) : queries.findActing(token))
  if (found === undefined) return undefined
  const { operator, until, session, account, balance } = found
  const acting = { name: operator.name, until }
  return {
    token,
    operator: undefined,
    signedIn: { session, account, balance, user: undefined, role: 'onlooker', acting },
  }
}

async function whoIs(serving: Serving, page: Pick<Page, 'who'>, request: Request, isUse: boolean): Promise<Who> {
  const acting = page.who === 'holder' ? await actingAs(serving, request, isUse) : undefined
  if (acting !== undefined) return acting
  const { gateway, operators } = serving
  const token = sessionToken(request, page.who === 'operator' ? 'operator' : 'holder')
  const nobody = { token, signedIn: undefined, operator: undefined }
  if (token === undefined) return nobody
  if (page.who === 'operator') return { ...nobody, operator: await operatorOf(operators, token, isUse) }
  const from = comesFrom(request)
  const signedIn = await (isUse ? gateway.commands.useSession(token, from) : gateway.queries.findSession(token, from))
  return { ...nobody, signedIn: signedIn && { ...signedIn, role: roleOf(signedIn) } }
}

async function operatorOf(
  operators: OperatorAccess | undefined,
  token: string,
  isUse: boolean,
): Promise<Who['operator']> {
  if (operators === undefined) return undefined
  const { queries, commands } = operators.signIn
  return isUse ? commands.useOperatorSession(token) : queries.findOperatorSession(token)
}

function frameOf(serving: Serving, request: Request, { token, signedIn, operator }: Who): Frame {
  const isSignedIn = token !== undefined && (signedIn ?? operator) !== undefined
  return {
    ...outside(serving, request),
    ...(isSignedIn && { signedIn, operator: operator?.operator, token: formToken(token) }),
    ...(signedIn && {
      mayPost: (path) => mayPost(signedIn.role, path),
      maySee: (path) => maySee(signedIn.role, path),
    }),
  }
}

const isSignedIn = ({ signedIn, operator }: Who): boolean => (signedIn ?? operator) !== undefined

/** Layout around the page of a response, so that an error page has the menu too. */
const framesOf = new WeakMap<Response, Frame>()

interface Visitor extends Who {
  readonly request: Request
  readonly response: Response
  readonly frame: Frame
  readonly isPage: boolean
}

/** What is left to be written, if it is a file. */
async function serveVisitor(
  serving: Serving,
  page: Page,
  visitor: Visitor,
  fields: Fields | undefined,
): Promise<Download | undefined> {
  const { request, response, isPage } = visitor
  framesOf.set(response, visitor.frame)
  if (page.who === 'operator' && serving.operators === undefined) answer(visitor, 'not-found')
  else if (isSignedIn(visitor) && namesNothing(request)) answer(visitor, 'not-found')
  else if (fields !== undefined) return submit(serving, page, visitor, fields)
  else if (page.who !== 'anybody' && !isSignedIn(visitor)) {
    // An event source would ask again after any other answer.
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

async function submit(serving: Serving, page: Page, visitor: Visitor, fields: Fields): Promise<Download | undefined> {
  const { request, response, token, frame } = visitor
  const isOurs = token === undefined || !isSignedIn(visitor) || isFormToken(fields.text('token'), token)
  if (!isSameOrigin(request) || !isOurs) write(response, forbidden, frame)
  else if (page.who !== 'anybody' && !isSignedIn(visitor)) goTo(visitor, { goTo: signInFor(page, request) })
  else if (visitor.signedIn !== undefined && !mayChange(visitor.signedIn.role, page)) write(response, notOfRole, frame)
  else {
    const given = await submitOf(page, serving, visitor, fields).catch(refusedByRole)
    if (isFile(given)) return given
    answer(visitor, given)
  }
  return undefined
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
async function again(serving: Serving, page: Page, visitor: Visitor): Promise<Look | 'busy' | undefined> {
  const { request } = visitor
  const done = await withPlace(serving.gate.enterSlow(clientNetwork(request)), true, async () => {
    const who = await whoIs(serving, page, request, false)
    if (!isSignedIn(who)) return { look: undefined }
    const shown = await showOf(page, serving, { ...visitor, ...who })
    return { look: lookOf(shown, frameOf(serving, request, who)) }
  })
  return done === undefined ? 'busy' : done.look
}

const lookOf = (shown: Answer, frame: Frame): Look | undefined =>
  typeof shown === 'object' && 'main' in shown
    ? { page: renderPage(shown, frame), isLive: shown.live === true }
    : undefined

/** Behind a proxy that is trusted with the scheme that it was asked by. */
function addressOf(request: Request): URL | undefined {
  const address = `${request.protocol}://${request.get('host') ?? ''}${request.baseUrl}${request.path}`
  return URL.canParse(address) ? new URL(`${address}?${requestQuery(request)}`) : undefined
}

function visitOf({ gateway, holders, operators, provider, clock }: Serving, { request }: Visitor): Visit {
  return {
    ...{ gateway, holders, operators, now: clock.now(), parameters: request.params as Visit['parameters'] },
    query: storableQuery(request),
    browser: { agent: request.get('user-agent') ?? '', address: clientAddress(request) },
    ...{ network: clientNetwork(request), comesFrom: comesFrom(request) },
    ...{ oidc: provider, here: addressOf(request), attempt: sessionToken(request, 'attempt') },
  }
}

/** The query without U+0000, which no text of the store can have. */
const storableQuery = (request: Request): URLSearchParams =>
  new URLSearchParams([...new URLSearchParams(requestQuery(request))].map((pair) => pair.map(storable)))

/** True if a part of the path can name nothing that is stored. */
const namesNothing = ({ params }: Request): boolean =>
  Object.values(params).some((value) => [value].flat().some((one) => storable(one) !== one))

function showOf(page: Page, serving: Serving, visitor: Visitor): Answer | Promise<Answer> {
  const visit = visitOf(serving, visitor)
  if (page.who === 'anybody') return page.show(visit)
  if (page.who === 'operator') {
    const asked = operatorVisit(visit, visitor)
    return asked === undefined ? 'not-found' : page.show(asked)
  }
  const asked = holderVisit(serving, visit, visitor)
  return asked === undefined ? 'not-found' : page.show(asked)
}

async function submitOf(page: Page, serving: Serving, visitor: Visitor, fields: Fields): Promise<Answer> {
  const visit = visitOf(serving, visitor)
  if (page.who === 'anybody') return page.submit?.(visit, fields) ?? 'not-found'
  if (page.who === 'operator') {
    const asked = operatorVisit(visit, visitor)
    return asked === undefined ? 'not-found' : (page.submit?.(asked, fields) ?? 'not-found')
  }
  const asked = holderVisit(serving, visit, visitor)
  return asked === undefined ? 'not-found' : (page.submit?.(asked, fields) ?? 'not-found')
}

function refusedByRole(problem: unknown): View {
  if (problem instanceof NotOfRoleError) return notOfRole
  throw problem
}

function holderVisit({ holders }: Serving, visit: Visit, { signedIn }: Visitor): HolderVisit | undefined {
  return signedIn && { ...visit, ...signedIn, gateway: holders.as(signedIn, visit.browser.address) }
}

const mayChange = (role: HolderRole, page: Page): boolean =>
  page.who !== 'holder' || page.changes === undefined || mayHolder(role, page.changes)

const posting = pages
  .filter(({ submit }) => submit !== undefined)
  .map((page) => ({ page, of: new RegExp(`^${page.path.replaceAll(/:\w+/g, '[^/]+')}$`) }))

/** The page with forms at this path. */
function postingPage(path: string): Page | undefined {
  const to = path.replace(/\?.*/, '')
  return (posting.find(({ page }) => page.path === to) ?? posting.find(({ of }) => of.test(to)))?.page
}

function mayPost(role: HolderRole, path: string): boolean {
  const page = postingPage(path)
  return page === undefined || mayChange(role, page)
}

function maySee(role: HolderRole, path: string): boolean {
  const page = postingPage(path)
  return page?.who !== 'holder' || page.isForm !== true || mayChange(role, page)
}

function operatorVisit(visit: Visit, { operator }: Visitor): OperatorVisit | undefined {
  if (visit.operators === undefined || operator === undefined) return undefined
  return { ...visit, ...operator, backOffice: visit.operators.as(operator.operator, visit.browser.address) }
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

/**
 * Returns where somebody signs in and comes back to the page that was asked for. After a form the page of sign-in says
 * that nothing was done.
 */
function signInFor({ who, path }: Page, { method, url }: Request): string {
  const signIn = who === 'operator' ? '/operator/sign-in' : '/sign-in'
  const isForm = method !== 'GET' && !path.endsWith('/sign-out')
  const isFirst = path === '/' || path === '/operator' || path.endsWith('/sign-out')
  const query = new URLSearchParams({ ...(!isFirst && { to: url }), ...(isForm && { ended: 'form' }) }).toString()
  return query === '' ? signIn : `${signIn}?${query}`
}

function answer(visitor: Visitor, given: Exclude<Answer, Download>): void {
  const { response, frame } = visitor
  if (given !== 'not-found') keepSessions(visitor, given)
  if (given === 'not-found') write(response, missing, frame)
  else if ('goTo' in given) goTo(visitor, given)
  else if ('leaveTo' in given) response.redirect(303, given.leaveTo.href)
  else write(response, given, frame)
}

function keepSessions({ request, response }: Visitor, { session, operatorSession, attempt }: Keeping): void {
  const keep = (of: SessionOf, kept: NonNullable<Keeping['session']>) =>
    keepSession(request, response, of, kept === 'ended' ? undefined : kept.token)
  if (session !== undefined) keep('holder', session)
  if (operatorSession !== undefined) keep('operator', operatorSession)
  if (attempt !== undefined) keep('attempt', attempt)
}

const goTo = ({ response, frame }: Visitor, { goTo: path }: GoTo): void => response.redirect(303, frame.base + path)

/** 401 and 422 are forms that say themselves what to do. */
const isErrorPage = ({ status = 200 }: View): boolean => status >= 400 && status !== 401 && status !== 422

function write(response: Response, view: View, frame: Frame): void {
  // A browser would save the page as the file that could not be read.
  response.removeHeader('Content-Disposition')
  if (view.retryAfterSeconds !== undefined) response.set('Retry-After', String(view.retryAfterSeconds))
  response
    .status(view.status ?? 200)
    .set('Cache-Control', 'no-store')
    .type('html')
    .send(renderPage(view, isErrorPage(view) ? { ...frame, requestId: String(response.get(requestIdHeader)) } : frame))
}
