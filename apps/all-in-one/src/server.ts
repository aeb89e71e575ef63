import { aspDescribeMalformed, aspDocuments, aspMount, aspNotFound, aspRouter, type AspSettings } from '@gateway/asp'
import type { Gateway } from '@gateway/core'
import type { HolderAccess, OperatorAccess } from '@gateway/core/audit'
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

/** One gate and one set of confirmed responses for all interfaces: they share a process. */
export interface AllInOneSettings extends AspSettings {
  /** What people may do at the portal who are signed in for an account. */
  readonly holders: HolderAccess
  /** Lets operators into the portal. */
  readonly operators?: OperatorAccess
  /** As of `PortalSettings`. */
  readonly oidc?: OidcSettings | undefined
  readonly metrics: Metrics
  readonly health: HealthSettings
  /** As of `RestSettings`. */
  readonly corsOrigins?: readonly string[]
}

/**
 * All interfaces in one app, told apart by path; beside them documents, health and metrics, a page for developers, and
 * the portal at `/`.
 */
export function createAllInOneServer(gateway: Gateway, settings: AllInOneSettings): Express {
  const { log, metrics, health } = settings
  const app = createApp({ log, metrics, service: 'all-in-one' }, (first) => {
    first.use(restPrefix, restRouter(gateway, settings), restNotFound(settings))
    first.use(xmlMount, xmlRouter(gateway, settings), Router().use(xmlOwnsPath, xmlNotFound(settings)))
    first.use(aspMount, aspRouter(gateway, settings), aspNotFound(settings))
  })
  app.use(pageHeaders(), healthRoutes(health), metrics.route, frontPage(), publicDocuments(documents, settings.gate))
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

/** Describes a request that is refused before an app sees it, in the form of the interface that the path belongs to. */
export function describeMalformed(clock: Clock): DescribeMalformed {
  const [rest, asp, xml] = [restDescribeMalformed(clock), aspDescribeMalformed(clock), xmlDescribeMalformed(clock)]
  return (malformed) => {
    const { path } = malformed
    if (restOwnsPath(path)) return rest(malformed)
    if (xmlOwnsPath.test(path.replace(xmlMount, ''))) return xml(malformed)
    return path === '' || aspMount.test(path) ? asp(malformed) : malformedInText(malformed)
  }
}
