import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'

/**
 * Whose session a cookie has: an account holder and an operator may be signed in at the same time. `attempt` has what
 * somebody is known by who is at an OpenID provider meanwhile.
 */
export type SessionOf = 'holder' | 'operator' | 'attempt'

const attemptSeconds = 600

/** Over TLS a name that no other host and no plain connection can set (RFC 6265bis, 4.1.3.2). */
const cookieName = (request: Request, of: SessionOf): string =>
  `${request.secure ? '__Host-' : ''}portal${of === 'holder' ? '' : `-${of}`}`

/** The token of the session that a request brings along; undefined: none, or what cannot be one. */
export function sessionToken(request: Request, of: SessionOf): string | undefined {
  const name = cookieName(request, of)
  const all = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  const [, value] = all.find(([its]) => its === name) ?? []
  return value !== undefined && /^[\w-]{20,100}$/.test(value) ? value : undefined
}

/** Without an end of its own: it goes when the browser is closed. The session ends earlier by its own bounds. */
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

/** What the forms of a session have: only a page of ours that was made for this session knows it. */
export const formToken = (session: string): string =>
  createHash('sha256').update(`form of ${session}`).digest('base64url')

export function isFormToken(given: string, session: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(formToken(session))]
  return one.length === other.length && timingSafeEqual(one, other)
}

/**
 * Whether a form was submitted by a page of this host. Browsers say so by `Sec-Fetch-Site`; on a plain connection to
 * another machine they say only `Origin`. A request without both is none of a browser's forms.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = request.get('origin')
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host === request.get('host')
}
