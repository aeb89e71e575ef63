import { NotOfRoleError } from '@gateway/core/people'
import { clientAddress, clientNetwork, comesFrom, requestQuery } from '@gateway/server'
import type { Request } from 'express'
import { type Fields, storable } from './forms.ts'
import type { Answer, HolderVisit, OperatorVisit, Page, View, Visit } from './page.ts'
import { notOfRole } from './pages/errors.tsx'
import type { Serving } from './serving.ts'
import { sessionToken } from './session.ts'
import type { Visitor } from './visitor.ts'

export function showOf(page: Page, serving: Serving, visitor: Visitor): Answer | Promise<Answer> {
  const visit = visitOf(serving, visitor)
  if (page.audience === 'anybody') return page.show(visit)
  if (page.audience === 'operator') {
    const signedInVisit = operatorVisit(visit, visitor)
    return signedInVisit === undefined ? 'not-found' : page.show(signedInVisit)
  }
  const signedInVisit = holderVisit(serving, visit, visitor)
  return signedInVisit === undefined ? 'not-found' : page.show(signedInVisit)
}

export async function submitOf(page: Page, serving: Serving, visitor: Visitor, fields: Fields): Promise<Answer> {
  const visit = visitOf(serving, visitor)
  if (page.audience === 'anybody') return page.submit?.(visit, fields) ?? 'not-found'
  if (page.audience === 'operator') {
    const signedInVisit = operatorVisit(visit, visitor)
    return signedInVisit === undefined ? 'not-found' : (page.submit?.(signedInVisit, fields) ?? 'not-found')
  }
  const signedInVisit = holderVisit(serving, visit, visitor)
  return signedInVisit === undefined ? 'not-found' : (page.submit?.(signedInVisit, fields) ?? 'not-found')
}

export function refusedByRole(problem: unknown): View {
  if (problem instanceof NotOfRoleError) return notOfRole
  throw problem
}

function visitOf({ gateway, holders, operators, provider, clock }: Serving, { request }: Visitor): Visit {
  return {
    ...{ gateway, holders, operators, now: clock.now(), parameters: request.params as Visit['parameters'] },
    query: storableQuery(request),
    browser: { agent: request.get('user-agent') ?? '', address: clientAddress(request) },
    ...{ network: clientNetwork(request), comesFrom: comesFrom(request) },
    ...{ oidc: provider, here: addressOf(request), attempt: sessionToken(request, 'attempt') },
  }
}

function holderVisit({ holders }: Serving, visit: Visit, { signedIn }: Visitor): HolderVisit | undefined {
  return signedIn && { ...visit, ...signedIn, gateway: holders.as(signedIn, visit.browser.address) }
}

function operatorVisit(visit: Visit, { operator }: Visitor): OperatorVisit | undefined {
  if (visit.operators === undefined || operator === undefined) return undefined
  return { ...visit, ...operator, backOffice: visit.operators.as(operator.operator, visit.browser.address) }
}

/** Returns the URL of the request as the browser has it, with the scheme that a trusted proxy reports. */
function addressOf(request: Request): URL | undefined {
  const address = `${request.protocol}://${request.get('host') ?? ''}${request.baseUrl}${request.path}`
  return URL.canParse(address) ? new URL(`${address}?${requestQuery(request)}`) : undefined
}

/** Returns the query without U+0000, which the store cannot keep. */
const storableQuery = (request: Request): URLSearchParams =>
  new URLSearchParams([...new URLSearchParams(requestQuery(request))].map((pair) => pair.map(storable)))
