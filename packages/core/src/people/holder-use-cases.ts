import type { AuditDetail } from '../audit/audit-log.ts'
import type { Account, AccountId, ComesFrom } from '../accounts/account.ts'
import { byAccount, holderCommand } from '../command.ts'
import type { AccountPorts, HolderPorts } from '../ports.ts'
import { acceptInvitation, accountUsers, findInvited, type Invitation } from './manage-users.ts'
import type { RecoveryCodes } from './second-factor.ts'
import { signInWithCode } from './sign-in-steps.ts'
import { changePassword, findSession, holders, ownSignIn, signIn, signInByLink, type Holder } from './sign-in.ts'
import type { UserId } from './users.ts'

/** Returns the fields of an audit line that name the user and read its state. */
export const stateOfUser = (account: AccountId, user: UserId) => ({
  given: { user },
  state: async ({ people }: AccountPorts): Promise<AuditDetail> => {
    const found = await people.users.find(account, user)
    return found === undefined ? {} : { email: found.email, role: found.role, locked: found.locked }
  },
})

const stateOfOwnUser = ({ id }: Account, user: UserId) => stateOfUser(id, user)

// The audit log does not contain tokens and recovery codes.
export const outcomeOfInvitation = (invited: Invitation | string) =>
  typeof invited === 'string' ? invited : { user: invited.id }
export const outcomeOfLink = (renewed: Invitation | string) => (typeof renewed === 'string' ? renewed : 'done')
const outcomeOfCodes = (set: RecoveryCodes | object | string) =>
  typeof set === 'string' ? set : 'recoveryCodes' in set

export const peopleQueries = (ports: HolderPorts) => ({
  /** Finds a session as `useSession` does, but does not count as a use of the session. */
  findSession: (token: string, comesFrom?: ComesFrom) => findSession(ports)(token, comesFrom, false),
  findInvited: findInvited(ports),
  listSessions: (holder: Holder) => ownSignIn(ports).listSessions(holder),
  findSecondFactor: (holder: Holder) => ownSignIn(ports).findSecondFactor(holder),
  isSecondFactorRequired: (holder: Holder) => ownSignIn(ports).isSecondFactorRequired(holder),
  listUsers: ({ id }: Account) => ports.people.users.list(id),
  findUser: ({ id }: Account, user: UserId) => ports.people.users.find(id, user),
})

export const peopleCommands = {
  signIn: holderCommand({ role: 'anybody', run: signIn, audit: false }),
  signInWithCode: holderCommand({
    role: 'anybody',
    run: (ports) => signInWithCode(ports, holders(ports)),
    audit: false,
  }),
  signInByLink: holderCommand({ role: 'anybody', run: signInByLink, audit: false }),
  /** Finds the session and counts as a use of it, which keeps the session open for longer. */
  useSession: holderCommand({
    role: 'anybody',
    run: (ports) => (token: string, comesFrom?: ComesFrom) => findSession(ports)(token, comesFrom, true),
    audit: false,
  }),
  // Not recorded here, because `acceptInvitation` of `holderAccess` records it under the name of the invited user.
  acceptInvitation: holderCommand({ role: 'anybody', run: acceptInvitation, audit: false }),
  endSession: holderCommand({ role: 'reader', run: (ports) => ownSignIn(ports).endSession, audit: false }),
  endOtherSessions: holderCommand({
    role: 'reader',
    run: (ports) => ownSignIn(ports).endOtherSessions,
    audit: () => ({}),
  }),
  changePassword: holderCommand({
    role: 'reader',
    run: changePassword,
    audit: () => ({ outcome: (changed) => (typeof changed === 'string' ? changed : 'token' in changed) }),
  }),
  beginSecondFactor: holderCommand({
    role: 'reader',
    run: (ports) => ownSignIn(ports).beginSecondFactor,
    audit: false,
  }),
  setSecondFactor: holderCommand({
    role: 'reader',
    run: (ports) => ownSignIn(ports).setSecondFactor,
    audit: () => ({ outcome: outcomeOfCodes }),
  }),
  renewRecoveryCodes: holderCommand({
    role: 'reader',
    run: (ports) => ownSignIn(ports).renewRecoveryCodes,
    audit: () => ({ outcome: outcomeOfCodes }),
  }),
  removeSecondFactor: holderCommand({
    role: 'reader',
    run: (ports) => ownSignIn(ports).removeSecondFactor,
    audit: () => ({ outcome: (removed) => (typeof removed === 'string' ? removed : false) }),
  }),
  inviteUser: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).invite),
    audit: (_account, { email, role }) => ({ given: { email, role }, outcome: outcomeOfInvitation }),
  }),
  renewUserLink: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).renewLink),
    audit: (account, user) => ({ ...stateOfOwnUser(account, user), outcome: outcomeOfLink }),
  }),
  setUserRole: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).setRole),
    audit: stateOfOwnUser,
  }),
  lockUser: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).lock),
    audit: stateOfOwnUser,
  }),
  unlockUser: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).unlock),
    audit: stateOfOwnUser,
  }),
  removeUser: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).remove),
    audit: stateOfOwnUser,
  }),
  resetUserFactor: holderCommand({
    role: 'owner',
    run: (ports) => byAccount(accountUsers(ports).resetFactor),
    audit: stateOfOwnUser,
  }),
}
