import type { AccountId } from '../accounts/account.ts'
import type { AuditDetail } from '../audit/audit-log.ts'
import { operatorCommand } from '../command.ts'
import type { AccountPorts, OperatorPorts } from '../ports.ts'
import type { BackOfficeSettings } from '../settings.ts'
import { outcomeOfInvitation, outcomeOfLink, stateOfUser } from './holder-use-cases.ts'
import { accountUsers } from './manage-users.ts'
import {
  actingSeconds,
  addOperator,
  beginOperatorFactor,
  changeOperatorPassword,
  endOperatorSessions,
  findActing,
  findOperatorSession,
  listOperatorSessions,
  operatorArea,
  setOperatorPassword,
  signInNamedOperator,
  signInOperator,
} from './operator-sign-in.ts'
import type { Operator, OperatorId, OperatorRole } from './operators.ts'
import { ownSecondFactor } from './second-factor.ts'
import { factorOwner, type AccountFactor } from './second-factors.ts'
import type { SessionId } from './sessions.ts'
import { signInWithCode } from './sign-in-steps.ts'
import { offerSignInLink } from './sign-in.ts'
import type { User, UserId } from './users.ts'

const stateOfAnyUser = (account: AccountId, user: UserId) => ({ account, ...stateOfUser(account, user) })

const stateOfOperator = (operator: OperatorId) => ({
  given: { operator },
  state: async ({ people: { operators } }: AccountPorts): Promise<AuditDetail> => {
    const found = (await operators.list()).find(({ id }) => id === operator)
    return found === undefined ? {} : { name: found.name, role: found.role, locked: found.locked }
  },
})

/** Queries that the portal makes before it knows the operator. */
export const signInQueries = (ports: OperatorPorts, settings: BackOfficeSettings) => ({
  /** Finds a session as `useOperatorSession` does, but does not count as a use of the session. */
  findOperatorSession: (token: string) => findOperatorSession(ports, settings)(token, false),
  /** Finds the account as `useActing` does, but does not count as a use of the session. */
  findActing: (token: string) => findActing(ports, settings)(token, false),
})

export const peopleQueries = (ports: OperatorPorts, settings: BackOfficeSettings) => ({
  ...signInQueries(ports, settings),
  listUsers: (id: AccountId): Promise<readonly User[]> => ports.people.users.list(id),
  findUserByEmail: (email: string): Promise<User | undefined> =>
    ports.people.users.byEmail(email).then((found) => found?.user),
  listOperators: (): Promise<readonly Operator[]> => ports.people.operators.list(),
  listOperatorSessions: listOperatorSessions(ports),
  isOperatorFactorRequired: (): boolean => settings.secondFactorRequired,
  findOperatorFactor: (id: OperatorId) => ports.people.secondFactors.find(factorOwner('operator', id)),
  showAccountFactor: async (id: AccountId): Promise<AccountFactor> => ({
    factor: await ports.people.secondFactors.find(factorOwner('account', id)),
    isRequired: await ports.people.secondFactors.isRequired(id),
  }),
})

/** Commands that need no session of an operator. */
export const signInCommands = {
  signInOperator: operatorCommand({ role: 'anybody', run: signInOperator, audit: false }),
  signInNamedOperator: operatorCommand({ role: 'anybody', run: signInNamedOperator, audit: false }),
  signInOperatorWithCode: operatorCommand({
    role: 'anybody',
    run: (ports, settings) => signInWithCode(ports, operatorArea(ports, settings)),
    audit: false,
  }),
  /** Finds the session and counts as a use of it, which keeps the session open for longer. */
  useOperatorSession: operatorCommand({
    role: 'anybody',
    run: (ports, settings) => (token: string) => findOperatorSession(ports, settings)(token, true),
    audit: false,
  }),
  /** Finds the session and counts as a use of it, which keeps the session open for longer. */
  useActing: operatorCommand({
    role: 'anybody',
    run: (ports, settings) => (token: string) => findActing(ports, settings)(token, true),
    audit: false,
  }),
}

/** Commands of operators about themselves and about each other. */
const ofOperators = {
  endOperatorSessions: operatorCommand({ role: 'support', run: endOperatorSessions, audit: false }),
  changeOperatorPassword: operatorCommand({
    role: 'support',
    run: changeOperatorPassword,
    audit: ({ name }) => ({ given: { name } }),
  }),
  beginOperatorFactor: operatorCommand({ role: 'support', run: beginOperatorFactor, audit: false }),
  setOperatorFactor: operatorCommand({
    role: 'support',
    run:
      (ports) =>
      ({ id }: Operator, challenge: string, code: string) =>
        ownSecondFactor(ports).set(factorOwner('operator', id), challenge, code),
    audit: ({ name }) => ({ given: { name } }),
  }),
  renewOperatorCodes: operatorCommand({
    role: 'support',
    run:
      (ports) =>
      ({ id }: Operator, code: string) =>
        ownSecondFactor(ports).renewCodes(factorOwner('operator', id), code),
    audit: ({ name }) => ({ given: { name } }),
  }),
  removeOperatorFactor: operatorCommand({
    role: 'support',
    run:
      (ports, { secondFactorRequired }) =>
      ({ id }: Operator, code: string) =>
        ownSecondFactor(ports).remove(factorOwner('operator', id), code, secondFactorRequired),
    audit: ({ name }) => ({ given: { name } }),
  }),
  actAs: operatorCommand({
    role: 'support',
    run: (ports) => (account: AccountId, of: OperatorId, session: SessionId) =>
      ports.people.operators.actAs(of, session, account, actingSeconds),
    audit: (account) => ({ account, outcome: (until) => (until === undefined ? 'no-such-account' : { until }) }),
  }),
  endActingAs: operatorCommand({
    role: 'support',
    run: (ports) => (_account: AccountId, of: OperatorId, session: SessionId) =>
      ports.people.operators.endActingAs(of, session),
    audit: (account) => ({ account, outcome: (ended) => (ended === undefined ? 'was-over' : 'done') }),
  }),
  addOperator: operatorCommand({ role: 'admin', run: addOperator, audit: (details) => ({ given: { ...details } }) }),
  lockOperator: operatorCommand({
    role: 'admin',
    run: (ports) => (id: OperatorId) => ports.people.operators.setLocked(id, true),
    audit: stateOfOperator,
  }),
  unlockOperator: operatorCommand({
    role: 'admin',
    run: (ports) => (id: OperatorId) => ports.people.operators.setLocked(id, false),
    audit: stateOfOperator,
  }),
  setOperatorRole: operatorCommand({
    role: 'admin',
    run: (ports) => (id: OperatorId, role: OperatorRole) => ports.people.operators.setRole(id, role),
    audit: stateOfOperator,
  }),
  setOperatorPassword: operatorCommand({ role: 'admin', run: setOperatorPassword, audit: stateOfOperator }),
  resetOperatorFactor: operatorCommand({
    role: 'admin',
    run: (ports) => (id: OperatorId) => ports.people.secondFactors.remove(factorOwner('operator', id)),
    audit: (operator) => ({ given: { operator } }),
  }),
}

/** Commands of operators about people who sign in for an account. */
const ofHolders = {
  offerSignInLink: operatorCommand({ role: 'admin', run: offerSignInLink, audit: (account) => ({ account }) }),
  requireAccountFactor: operatorCommand({
    role: 'admin',
    run: (ports) => (id: AccountId, isRequired: boolean) => ports.people.secondFactors.setRequired(id, isRequired),
    audit: (account, isRequired) => ({
      account,
      given: { isRequired },
      state: async ({ people }) => ({ isRequired: await people.secondFactors.isRequired(account) }),
    }),
  }),
  resetAccountFactor: operatorCommand({
    role: 'admin',
    run: (ports) => (id: AccountId) => ports.people.secondFactors.remove(factorOwner('account', id)),
    audit: (account) => ({ account }),
  }),
  inviteUser: operatorCommand({
    role: 'admin',
    run: (ports) => accountUsers(ports).invite,
    audit: (account, { email, role }) => ({ account, given: { email, role }, outcome: outcomeOfInvitation }),
  }),
  renewUserLink: operatorCommand({
    role: 'admin',
    run: (ports) => accountUsers(ports).renewLink,
    audit: (account, user) => ({ ...stateOfAnyUser(account, user), outcome: outcomeOfLink }),
  }),
  setUserRole: operatorCommand({
    role: 'admin',
    run: (ports) => accountUsers(ports).setRole,
    audit: stateOfAnyUser,
  }),
  lockUser: operatorCommand({ role: 'support', run: (ports) => accountUsers(ports).lock, audit: stateOfAnyUser }),
  unlockUser: operatorCommand({ role: 'support', run: (ports) => accountUsers(ports).unlock, audit: stateOfAnyUser }),
  removeUser: operatorCommand({ role: 'admin', run: (ports) => accountUsers(ports).remove, audit: stateOfAnyUser }),
  resetUserFactor: operatorCommand({
    role: 'admin',
    run: (ports) => accountUsers(ports).resetFactor,
    audit: stateOfAnyUser,
  }),
}

export const peopleCommands = { ...signInCommands, ...ofOperators, ...ofHolders }
