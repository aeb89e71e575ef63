import type { Client } from 'pg'
import type { ServerPlace } from './driver.ts'

export interface History {
  /** Identifier of the database cluster, which all its servers share. */
  readonly system: string
  /** Timeline, which increases with each promotion. */
  readonly timeline: number
}

/** Knowledge about the servers of an address, which all its connections in this process share. */
export interface KnownServers {
  /** Latest history of any server. Primaries with an earlier one are refused. */
  latest: History | undefined
  readonly clients: Map<Client, History>
  /** Result of the last search for the primary. */
  found: Promise<ServerPlace> | undefined
  /** True if a server has refused to report its timeline. It is not asked again, because each error enters its log. */
  isSilent: boolean
}

export const noServersKnown = (): KnownServers => ({
  latest: undefined,
  clients: new Map(),
  found: undefined,
  isSilent: false,
})
