import type { OperatorAccess } from '@gateway/core'
import { roleOf, type HolderRole, type Operator, type OperatorSession, type SignedIn } from '@gateway/core/people'
import { comesFrom } from '@gateway/server'
import type { Request, Response } from 'express'
import type { Acting, Frame } from './layout.tsx'
import { mayPost, maySee } from './page-roles.ts'
import type { Page } from './page.ts'
import { outside, type Serving } from './serving.ts'
import { formToken, sessionToken } from './session.ts'

interface SignedInAs extends Omit<SignedIn, 'session'> {
  readonly session: Pick<SignedIn['session'], 'id'>
  readonly role: HolderRole
  /** Operator who is viewing the account, and the time at which this ends. */
  readonly acting?: Acting | undefined
}

/**
 * Session of a request. Pages for operators use the session of an operator, all other pages that of an account holder.
 */
interface Who {
  readonly token: string | undefined
  readonly signedIn: SignedInAs | undefined
  readonly operator: { readonly operator: Operator; readonly session: OperatorSession } | undefined
}

export const isSignedIn = ({ signedIn, operator }: Who): boolean => (signedIn ?? operator) !== undefined

export async function whoIs(
  serving: Serving,
  page: Pick<Page, 'audience'>,
  request: Request,
  isUse: boolean,
): Promise<Who> {
  const acting = page.audience === 'holder' ? await actingAs(serving, request, isUse) : undefined
  if (acting !== undefined) return acting
  const { gateway, operators } = serving
  const token = sessionToken(request, page.audience === 'operator' ? 'operator' : 'holder')
  const nobody = { token, signedIn: undefined, operator: undefined }
  if (token === undefined) return nobody
  if (page.audience === 'operator') return { ...nobody, operator: await operatorOf(operators, token, isUse) }
  const from = comesFrom(request)
  const signedIn = await (isUse ? gateway.commands.useSession(token, from) : gateway.queries.findSession(token, from))
  return { ...nobody, signedIn: signedIn && { ...signedIn, role: roleOf(signedIn) } }
}

/**
 * Returns the session of an operator who acts as an account, or undefined. This session takes precedence over a session
 * of an account holder in the same browser.
 */
async function actingAs({ operators }: Serving, request: Request, isUse: boolean): Promise<Who | undefined> {
  const token = sessionToken(request, 'operator')
  if (token === undefined || operators === undefined) return undefined
  const { queries, commands } = operators.signIn
  const found = await (isUse ? commands.useActing(token) : queries.findActing(token))
  if (found === undefined) return undefined
  const { operator, until, session, account, balance } = found
  const acting = { name: operator.name, until }
  return {
    token,
    operator: undefined,
    signedIn: { session, account, balance, user: undefined, role: 'onlooker', acting },
  }
}

async function operatorOf(
  operators: OperatorAccess | undefined,
  token: string,
  isUse: boolean,
): Promise<Who['operator']> {
  if (operators === undefined) return undefined
  const { queries, commands } = operators.signIn
  return isUse ? commands.useOperatorSession(token) : queries.findOperatorSession(token)
}

export function frameOf(serving: Serving, request: Request, { token, signedIn, operator }: Who): Frame {
  const isSignedIn = token !== undefined && (signedIn ?? operator) !== undefined
  return {
    ...outside(serving, request),
    ...(isSignedIn && { signedIn, operator: operator?.operator, token: formToken(token) }),
    ...(signedIn && {
      mayPost: (path) => mayPost(signedIn.role, path),
      maySee: (path) => maySee(signedIn.role, path),
    }),
  }
}

export interface Visitor extends Who {
  readonly request: Request
  readonly response: Response
  readonly frame: Frame
  readonly isPage: boolean
}
