import type { AccountId } from './accounts/account.ts'
import type { AuditActor } from './audit/audit-log.ts'
import { changesBy, type AuditLine, type StatePorts } from './audit/record-change.ts'
import { backOfficeCommands, createBackOffice, type BackOffice } from './back-office.ts'
import type { Run, Runs } from './command.ts'
import { gatewayCommands, type Gateway } from './gateway.ts'
import type { Operator, OperatorRole } from './people/operators.ts'
import type { signInCommands, signInQueries } from './people/operator-use-cases.ts'
import { holderIncludes, NotOfRoleError, operatorIncludes, type HolderRole } from './people/roles.ts'
import type { SignedIn } from './people/sign-in.ts'
import type { AuditPorts, OperatorPorts } from './ports.ts'
import type { BackOfficeSettings } from './settings.ts'

export type HolderCommand = keyof typeof gatewayCommands
export type OperatorCommand = keyof typeof backOfficeCommands

/** Returns true if a person with this role at the portal of an account may call the command. */
export const mayHolder = (role: HolderRole, command: HolderCommand): boolean =>
  holderIncludes(role, gatewayCommands[command].role)

/** Returns true if an operator with this role may call the command. */
export const mayOperator = (role: OperatorRole, command: OperatorCommand): boolean =>
  operatorIncludes(role, backOfficeCommands[command].role)

type Recorded<Table> = {
  [Name in keyof Table]: Table[Name] extends { readonly audit: false } ? never : Name
}[keyof Table]

/** Names of recorded changes: commands, and actions that only the command line records. */
export type AuditAction =
  | Recorded<typeof gatewayCommands>
  | Recorded<typeof backOfficeCommands>
  | 'acceptInvitation'
  | 'applyCarriers'
  | 'sendMessages'
  | 'watchCarrier'

type Table<Role> = Readonly<
  Record<string, { readonly role: Role; readonly audit: false | ((...args: never[]) => AuditLine<never>) }>
>

interface Caller<Role> extends AuditActor {
  readonly role: string
  readonly includes: (needed: Role) => boolean
  /** Account of the caller, for entries of the audit log. */
  readonly account?: AccountId
}

/**
 * Returns the commands for a caller. A command that the caller's role may not call does nothing and rejects with a
 * `NotOfRoleError`. Every other command that has an audit line records its change under the caller's name.
 */
function commandsFor<Role, Commands extends Readonly<Record<string, Run>>>(
  commands: Commands,
  table: Table<Role>,
  ports: StatePorts & AuditPorts,
  { by, from, role, includes, account }: Caller<Role>,
): Commands {
  const record = changesBy(ports, { by, from })
  const entries = Object.entries(table).map(([action, { role: needed, audit }]) => {
    const run = commands[action] as Run
    if (!includes(needed))
      return [action, () => Promise.reject(new NotOfRoleError(`the role ${role} may not call ${action}`))]
    if (audit === false) return [action, run]
    const owner = account === undefined ? {} : { account }
    // The cast is safe, because the table pairs the function of each audit line with the command whose result it reads.
    const lineOf = (args: never[]) =>
      ({ action, ...owner, ...audit(...args) }) as AuditLine<unknown> & { action: string }
    return [action, (...args: never[]) => record(lineOf(args), () => run(...args))]
  })
  return Object.fromEntries(entries) as Commands
}

/** Gateways for people who are signed in for an account. */
export interface HolderAccess {
  /** Returns the gateway for a session. Changes are recorded under the name of the person, with the address `from`. */
  as(signedIn: Pick<SignedIn, 'account' | 'user'> & { readonly role: HolderRole }, from: string): Gateway
  /** Sets a password by the link of an invitation, recorded as a change of the invited user. */
  accept(link: string, password: string, from: string): ReturnType<Gateway['commands']['acceptInvitation']>
}

export const holderAccess = (ports: StatePorts & AuditPorts, { queries, commands }: Gateway): HolderAccess => ({
  as: ({ account, user, role }, from) => {
    // Names of operators contain no spaces, so the name of a holder is never that of an operator.
    const by = user === undefined ? `account ${account.login}` : `user ${user.email}`
    const includes = (needed: Parameters<typeof holderIncludes>[1]) => holderIncludes(role, needed)
    const caller = { by, from, role, includes, account: account.id }
    return { queries, commands: commandsFor(commands, gatewayCommands, ports, caller) }
  },
  async accept(link, password, from) {
    const user = await queries.findInvited(link)
    if (user === undefined) return 'over'
    const change = { action: 'acceptInvitation', account: user.account }
    return changesBy(ports, { by: `user ${user.email}`, from })(change, () => commands.acceptInvitation(link, password))
  },
})

/**
 * Access for operators: the queries and commands for signing in, and the back office of an operator who is signed in.
 */
export interface OperatorAccess {
  readonly signIn: {
    readonly queries: Readonly<ReturnType<typeof signInQueries>>
    readonly commands: Runs<typeof signInCommands>
  }
  /** Returns the back office for an operator. Changes are recorded under the name, with the address `from`. */
  as(operator: Pick<Operator, 'name' | 'role'>, from: string): BackOffice
}

export function operatorAccess(ports: OperatorPorts, settings?: Partial<BackOfficeSettings>): OperatorAccess {
  const backOffice = createBackOffice(ports, settings)
  const { queries, commands } = backOffice
  return {
    signIn: backOffice,
    as: ({ name, role }, from) => {
      const includes = (needed: Parameters<typeof operatorIncludes>[1]) => operatorIncludes(role, needed)
      return { queries, commands: commandsFor(commands, backOfficeCommands, ports, { by: name, from, role, includes }) }
    },
  }
}
