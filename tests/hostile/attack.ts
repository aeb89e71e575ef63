import type { Interface } from '../support/attempts.ts'
import type { Client } from '../support/clients.ts'
import type { Deployment } from './deployment.ts'

/** Parameters of an attack. They are passed as JSON, because the attack runs in a process of its own. */
export interface Target {
  /** Port of the attacked interface. */
  readonly port: number
  /** Key of the attacking account. */
  readonly key: string
  /** True for full strength, false for a fifth of it. */
  readonly full: boolean
  /** Value that `prepare` returned. */
  readonly prepared?: unknown
}

export interface Attack {
  /** Description of the requests and their sender. */
  readonly title: string
  /** Attacked interface. The other account sends over this interface too. */
  readonly by: Interface
  /** Attacks the portal or the SMPP server instead of `by`. */
  readonly at?: 'portal' | 'smpp'
  /** Stores data of the attacking account before the attack. The resolved value is passed to `run` as JSON. */
  readonly prepare?: (hostile: Client, full: boolean, deployment: Deployment) => Promise<unknown>
  /** Attacks until its process is ended. */
  readonly run: (target: Target) => void
  /** Seconds within which a timeout ends the requests of the attack, so that the memory must be released. */
  readonly endsWithin?: number
}

/** Returns a fifth of the value in the short form. */
export const scaled = (target: Pick<Target, 'full'>, atFullStrength: number): number =>
  target.full ? atFullStrength : Math.ceil(atFullStrength / 5)

export const post = (path: string, headers: string, body: string, length = Buffer.byteLength(body)): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`

export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}\r\n`
