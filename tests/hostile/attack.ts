import type { Interface } from '../support/attempts.ts'
import type { Client } from '../support/clients.ts'
import type { Deployment } from './deployment.ts'

/** What an attack needs to know; JSON, for it runs in a process of its own. */
export interface Target {
  /** Of the process that serves the attacked interface. */
  readonly port: number
  /** A key of the account that attacks. */
  readonly key: string
  /** At full strength, or a fifth of it. */
  readonly full: boolean
  /** What `prepare` gave. */
  readonly prepared?: unknown
}

export interface Attack {
  /** What is sent, and by whom. */
  readonly title: string
  /** The interface that is attacked, and that the other account sends over. */
  readonly by: Interface
  /** Attacks the portal instead of `by`. */
  readonly at?: 'portal'
  /** What the account that attacks stores before; resolves to what `run` needs, as JSON. */
  readonly prepare?: (hostile: Client, full: boolean, deployment: Deployment) => Promise<unknown>
  /** Attacks until its process is ended. */
  readonly run: (target: Target) => void
  /** Seconds for which its memory may stay: until a time-out of ours ends it. */
  readonly endsWithin?: number
}

/** A fifth in the short form. */
export const scaled = (target: Pick<Target, 'full'>, atFullStrength: number): number =>
  target.full ? atFullStrength : Math.ceil(atFullStrength / 5)

export const post = (path: string, headers: string, body: string, length = Buffer.byteLength(body)): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`

export const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}\r\n`
