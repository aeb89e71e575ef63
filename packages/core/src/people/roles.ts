import { NothingDoneError } from '../nothing-done.ts'
import type { OperatorRole } from './operators.ts'
import type { SignedIn } from './sign-in.ts'
import type { UserRole } from './users.ts'

/**
 * Role at the portal of an account: the role of a user, or that of an operator who views the account and changes
 * nothing.
 */
export type HolderRole = UserRole | 'onlooker'

const rank: Readonly<Record<UserRole, number>> = { owner: 2, sender: 1, reader: 0 }

/** Returns true if the role includes the needed one. Every role includes 'anybody'. */
export const holderIncludes = (role: HolderRole, needed: UserRole | 'anybody'): boolean =>
  needed === 'anybody' || (role !== 'onlooker' && rank[role] >= rank[needed])

/** Returns true if the role includes the needed one. Every role includes 'anybody'. */
export const operatorIncludes = (role: OperatorRole, needed: OperatorRole | 'anybody'): boolean =>
  role === 'admin' || needed !== 'admin'

/** Returns the role of a session. A session that was opened with the account's own password is an owner's. */
export const roleOf = ({ user }: Pick<SignedIn, 'user'>): UserRole => user?.role ?? 'owner'

/** Error of a command that the caller's role does not include. Nothing was done or recorded. */
export class NotOfRoleError extends NothingDoneError {}
