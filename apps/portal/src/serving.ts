import type { Gateway, HolderAccess, OperatorAccess } from '@gateway/core'
import type { Clock } from '@gateway/core/time'
import type { AdmissionGate, HealthSettings, Log, Metrics, OidcSettings } from '@gateway/server'
import type { Request } from 'express'
import type { Frame, PageLink } from './layout.tsx'
import type { Followers } from './live.ts'
import type { OidcProvider } from './oidc.ts'

export interface PortalSettings {
  readonly clock: Clock
  /** Use cases of account holders and their users, by role. */
  readonly holders: HolderAccess
  /** Use cases of operators, by role. If left out, the pages for operators do not exist. */
  readonly operators?: OperatorAccess | undefined
  /** Identity provider at which operators can sign in too. */
  readonly oidc?: OidcSettings | undefined
  readonly gate: AdmissionGate
  readonly log: Log
  readonly metrics?: Metrics | undefined
  /** Links to other pages of the same host, shown to visitors who are not signed in. */
  readonly links?: readonly PageLink[] | undefined
}

export interface PortalServerSettings extends PortalSettings {
  readonly health?: HealthSettings
}

export interface Serving extends PortalSettings {
  readonly gateway: Gateway
  readonly provider: OidcProvider | undefined
  readonly followers: Followers
}

/** Returns the layout of a page for a visitor who is not signed in. */
export const outside = (
  { clock, links = [] }: Pick<PortalSettings, 'clock' | 'links'>,
  { baseUrl }: Request,
): Frame => ({
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
