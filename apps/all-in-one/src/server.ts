import { aspDescribeMalformed, aspDocuments, aspMount, aspNotFound, aspRouter, type AspSettings } from '@gateway/asp'
import { callbacksRouter, RefusedCallbacks, type CallbacksSettings, type CallbackStore } from '@gateway/callbacks'
import type { Gateway, HolderAccess, OperatorAccess } from '@gateway/core'
import type { Clock } from '@gateway/core/time'
import { guideDocuments } from '@gateway/guide'
import { portalNotFound, portalRouter } from '@gateway/portal'
import { restDescribeMalformed, restDocuments, restNotFound, restOwnsPath, restPrefix, restRouter } from '@gateway/rest'
import {
  createApp,
  healthRoutes,
  malformedInText,
  onError,
  pageHeaders,
  publicDocuments,
  type DescribeMalformed,
  type HealthSettings,
  type Metrics,
  type OidcSettings,
} from '@gateway/server'
import { xmlDescribeMalformed, xmlDocuments, xmlMount, xmlOwnsPath, xmlNotFound, xmlRouter } from '@gateway/xml'
import { Router, type Express } from 'express'
import { frontPage, frontPagePath } from './front-page.ts'

/**
 * Settings shared by all interfaces: they share the admission gate and the confirmed responses because they run in one
 * process.
 */
export interface AllInOneSettings extends AspSettings {
  /** Use cases for people who are signed in to the portal for an account. */
  readonly holders: HolderAccess
  /** Use cases of the portal for operators. */
  readonly operators?: OperatorAccess
  /** Settings of the OpenID provider, as in `PortalSettings`. */
  readonly oidc?: OidcSettings | undefined
  readonly metrics: Metrics
  readonly health: HealthSettings
  /** Origins whose pages may call REST from a browser, as in `RestSettings`. */
  readonly corsOrigins?: readonly string[]
  /** Store and carriers of callbacks; if undefined, no callbacks are served. */
  readonly callbacks?: { readonly store: CallbackStore; readonly carriers: CallbacksSettings['carriers'] }
}

/**
 * Creates one app with all interfaces, distinguished by path, and with documents, health, metrics, a page for
 * developers, and the portal at `/`.
 */
export function createAllInOneServer(gateway: Gateway, settings: AllInOneSettings): Express {
  const { log, metrics, callbacks } = settings
  const refused = new RefusedCallbacks()
  const details = { ...settings.health.details, callbacks: () => ({ refused: refused.list() }) }
  const app = createApp({ log, metrics, service: 'all-in-one' }, (first) => {
    first.use(restPrefix, restRouter(gateway, settings), restNotFound(settings))
    first.use(xmlMount, xmlRouter(gateway, settings), Router().use(xmlOwnsPath, xmlNotFound(settings)))
    first.use(aspMount, aspRouter(gateway, settings), aspNotFound(settings))
    if (callbacks !== undefined) first.use(callbacksRouter(callbacks.store, { ...settings, ...callbacks, refused }))
  })
  app.use(
    pageHeaders(),
    healthRoutes({ ...settings.health, details }),
    metrics.route,
    frontPage(),
    publicDocuments(documents, settings.gate),
  )
  const portal = { ...settings, links: [{ path: frontPagePath, title: 'For developers' }] }
  app.use(portalRouter(gateway, portal))
  const pageNotFound = portalNotFound(gateway, portal)
  app.use((request, response, next) => {
    if (request.accepts(['text', 'html']) === 'html') pageNotFound(request, response, next)
    else response.status(404).type('text/plain').send('There is nothing here. Look at /')
  })
  app.use(onError(log, (_request, response, status) => response.status(status).type('text/plain').send('Error')))
  return app
}

const documents = new Map([...restDocuments, ...aspDocuments, ...xmlDocuments, ...guideDocuments()])

/**
 * Returns the response to a request that is refused before an app sees it, in the format of the interface of its path.
 */
export function describeMalformed(clock: Clock): DescribeMalformed {
  const [rest, asp, xml] = [restDescribeMalformed(clock), aspDescribeMalformed(clock), xmlDescribeMalformed(clock)]
  return (malformed) => {
    const { path } = malformed
    if (restOwnsPath(path)) return rest(malformed)
    if (xmlOwnsPath.test(path.replace(xmlMount, ''))) return xml(malformed)
    return path === '' || aspMount.test(path) ? asp(malformed) : malformedInText(malformed)
  }
}
