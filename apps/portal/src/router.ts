import type { Gateway } from '@gateway/core'
import {
  clientNetwork,
  createServiceApp,
  hadNoEffect,
  isProgrammingError,
  onError,
  prepareResponse,
  publicDocuments,
  withPlace,
} from '@gateway/server'
import { Router, type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import helmet from 'helmet'
import { assets } from './assets.ts'
import { noFollowers } from './live.ts'
import { oidcProvider } from './oidc.ts'
import type { View } from './page.ts'
import { missing, trouble, unanswerable } from './pages/errors.tsx'
import { pages } from './pages/index.ts'
import { restOr } from './rest-paths.ts'
import { framesOf, serve } from './serve-page.ts'
import { outside, type PortalServerSettings, type PortalSettings } from './serving.ts'
import { frameOf, whoIs } from './visitor.ts'
import { write } from './write-answer.ts'

/** Returns the pages of the portal, for any Express app at any path. Other paths pass to the next handler. */
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

/**
 * Creates an app with the portal, health and metrics. An unknown path below `/api` is answered in the form of the
 * interface to which the path belongs, any other unknown path with a page.
 */
export const createPortalServer = (gateway: Gateway, settings: PortalServerSettings): Express =>
  createServiceApp({
    ...settings,
    service: 'portal',
    mounted: ['/', portalRouter(gateway, settings)],
    notFound: restOr(settings.clock, portalNotFound(gateway, settings)),
    answerError: (request, response, _status, error) => write(response, troubleOf(error), outside(settings, request)),
  })

/** Answers 404 with a page. If the visitor is signed in, the page has the visitor's menu. */
export function portalNotFound(gateway: Gateway, settings: PortalSettings): RequestHandler {
  const { log, metrics, gate } = settings
  const begin = prepareResponse({ log, metrics, service: 'portal' })
  const secure = secureHeaders()
  const serving = { ...settings, gateway, provider: undefined, followers: noFollowers() }
  return (request, response, next) => {
    begin(response)
    response.set('Cache-Control', 'no-store')
    secure(request, response, () => {
      const audience = request.path.startsWith('/operator') ? ('operator' as const) : ('holder' as const)
      const found = withPlace(gate.enterSlow(clientNetwork(request)), true, () =>
        whoIs(serving, { audience }, request, false),
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

/** Returns the page for an error that a page threw (ruling 1.25). */
const troubleOf = (error: unknown): View => (hadNoEffect(error) && !isProgrammingError(error) ? unanswerable : trouble)

/** Answers 404 for a path that cannot be decoded, such as `/inbox/%FF`. */
const undecodable =
  (notFound: RequestHandler): ErrorRequestHandler =>
  (problem: unknown, request, response, next) =>
    problem instanceof URIError ? notFound(request, response, next) : next(problem)

/** Sets headers that forbid content of other hosts, inline scripts, and frames in other pages. */
const secureHeaders = (): RequestHandler =>
  helmet({
    // The TLS proxy may set this header. A browser that has seen it refuses to open the same host without TLS later.
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
