import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'

/**
 * Kind of session that a cookie holds. An account holder and an operator may be signed in at the same time. `attempt`
 * identifies a person who is currently at an OpenID provider.
 */
export type SessionOf = 'holder' | 'operator' | 'attempt'

const attemptSeconds = 600

/**
 * Returns the name of the cookie. Over TLS it has the prefix `__Host-`, so that neither another host nor an unencrypted
 * connection can set it (RFC 6265bis, 4.1.3.2).
 */
const cookieName = (request: Request, of: SessionOf): string =>
  `${request.secure ? '__Host-' : ''}portal${of === 'holder' ? '' : `-${of}`}`

/** Returns the session token of a request, or undefined if it has none or its cookie cannot be a token. */
export function sessionToken(request: Request, of: SessionOf): string | undefined {
  const name = cookieName(request, of)
  const all = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  const [, value] = all.find(([cookie]) => cookie === name) ?? []
  return value !== undefined && /^[\w-]{20,100}$/.test(value) ? value : undefined
}

/**
 * Sets the cookie of a session, or clears it if `token` is undefined. The cookie has no expiry of its own: the browser
 * drops it when it closes, and the server ends the session earlier.
 */
export function keepSession(request: Request, response: Response, of: SessionOf, token: string | undefined): void {
  response.cookie(cookieName(request, of), token ?? '', {
    httpOnly: true,
    sameSite: 'lax',
    secure: request.secure,
    path: '/',
    ...(of === 'attempt' && { maxAge: attemptSeconds * 1000 }),
    ...(token === undefined && { maxAge: 0 }),
  })
}

/** Returns the token that the forms of a session carry. Only a page rendered for this session contains it. */
export const formToken = (session: string): string =>
  createHash('sha256').update(`form of ${session}`).digest('base64url')

export function isFormToken(token: string, session: string): boolean {
  const [one, other] = [Buffer.from(token), Buffer.from(formToken(session))]
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * True if a form was submitted from a page of this host, according to `Sec-Fetch-Site`. On an unencrypted connection to
 * another machine, browsers send only `Origin`. A request without both headers is not a browser's form.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = request.get('origin')
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === request.get('host')
}
