import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { release } from './version.ts'

/** Reason of a failed check: a stable word, and a sentence. Neither is secret. */
export interface Problem {
  readonly reason: string
  readonly message: string
  /** States that `/health/ready` shows in addition to the checks, by name. */
  readonly states?: Readonly<Record<string, string>>
}

/**
 * Checks that must pass before a process is ready, by name. Each resolves to true, or to false or the reason if it
 * fails.
 */
export type Checks = Readonly<Record<string, () => Promise<boolean | Problem>>>

export interface HealthSettings {
  readonly checks: Checks
  /** Signal that is aborted when the process stops. */
  readonly stopping?: AbortSignal
  /** Notes for operators in `/health/ready`; not secret. */
  readonly notes?: () => readonly string[]
  /** Further facts, as JSON at `/health/<name>`; not secret. */
  readonly details?: Readonly<Record<string, () => unknown>>
}

type State = 'ok' | 'failing' | 'no answer'
type Found = State | Problem

const CHECK_MS = 1000
const FRESH_MS = 500
const ABANDONED_MS = 10_000

/**
 * Answers GET and HEAD. `/health/live` returns 200. `/health/ready` returns 200 if every check passes, and 503
 * otherwise or after the stop signal. Its body contains the state of each check, the reasons of failed checks in
 * `problems`, and `notes` if there are any. `/health/<name>` returns 200 with the entry of `details`. A check that
 * takes longer than 1 s is shown as 'no answer'. A check is repeated 0.5 s after it ended, or 10 s after it began.
 */
export const healthRoutes = ({ checks, stopping, notes, details = {} }: HealthSettings): RequestHandler => {
  const readStates = statesOf(checks)
  return async (request, response, next) => {
    const path = request.path
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const name = /^\/health\/(.+)/.exec(path)?.[1] ?? ''
    const detail = Object.hasOwn(details, name) ? details[name] : undefined
    if (!isRead || isHidden(request) || (path !== '/health/live' && path !== '/health/ready' && detail === undefined)) {
      next()
      return
    }
    response.setHeader('Cache-Control', 'no-store')
    if (detail !== undefined) return void response.json(detail())
    if (path === '/health/live') return void response.json({ live: true, ...release })
    const found = await readStates()
    const ready = !stopping?.aborted && found.every(([, state]) => state === 'ok')
    const noteLines = notes?.() ?? []
    const problems = found.flatMap(([name, state]) => (typeof state === 'object' ? [[name, state] as const] : []))
    response.status(ready ? 200 : 503).json({
      ready,
      ...release,
      ...(stopping?.aborted && { stopping: true }),
      checks: Object.fromEntries(found.map(([name, state]) => [name, typeof state === 'object' ? 'failing' : state])),
      ...Object.assign({}, ...problems.map(([, { states }]) => states)),
      ...(noteLines.length > 0 && { notes: noteLines }),
      ...(problems.length > 0 && {
        problems: Object.fromEntries(problems.map(([name, { reason, message }]) => [name, { reason, message }])),
      }),
    })
  }
}

type States = readonly (readonly [name: string, found: Found])[]

/** Functions that read the states of checks. Readers of the same checks share their results. */
const readers = new WeakMap<Checks, () => Promise<States>>()

function statesOf(checks: Checks): () => Promise<States> {
  const bounded = Object.entries(checks).map(([name, check]) => [name, cached(check)] as const)
  const read =
    readers.get(checks) ?? (() => Promise.all(bounded.map(async ([name, check]) => [name, await check()] as const)))
  readers.set(checks, read)
  return read
}

/**
 * Returns a function that resolves to the reason why the process is not ready, or to undefined if it is ready. The
 * reason is `stopping` during a stop. Otherwise it depends on the first check that is not `ok`: the `reason` that the
 * check returned, `no-answer` if the check did not answer, or else the name of the check.
 */
export function unreadyReason({ checks, stopping }: HealthSettings): () => Promise<string | undefined> {
  const readStates = statesOf(checks)
  return async () => {
    if (stopping?.aborted) return 'stopping'
    const [name, state] = (await readStates()).find(([, found]) => found !== 'ok') ?? []
    if (typeof state === 'object') return state.reason
    return state === 'no answer' ? 'no-answer' : name
  }
}

const cached = (check: Checks[string]) => {
  let running: Promise<Found> | undefined
  let freshUntil = 0
  const run = async (): Promise<Found> => {
    try {
      const found = await check()
      return typeof found === 'object' ? found : found ? 'ok' : 'failing'
    } catch {
      return 'failing'
    } finally {
      freshUntil = performance.now() + FRESH_MS
    }
  }
  return (): Promise<Found> => {
    if (running === undefined || performance.now() > freshUntil) {
      freshUntil = performance.now() + ABANDONED_MS
      running = run()
    }
    return withTimeout(running)
  }
}

const withTimeout = async (running: Promise<Found>): Promise<Found> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<State>((resolve) => {
    timer = setTimeout(() => resolve('no answer'), CHECK_MS)
  })
  const state = await Promise.race([running, late])
  clearTimeout(timer)
  return state
}

const hidden = new WeakSet<Socket>()

/** Returns true if a request is for health or metrics. */
export const isForOperators = (url = ''): boolean => /^\/(?:metrics|health\/[^?]*)(?:\?|$)/.test(url)

/** Hides health and metrics from requests of this connection, because another port serves them. */
export const hideFromClients = (connection: Socket): void => void hidden.add(connection)

export const isHidden = ({ socket }: IncomingMessage): boolean => hidden.has(socket)
