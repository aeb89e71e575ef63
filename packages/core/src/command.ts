import type { Account, AccountId } from './accounts/account.ts'
import type { AuditLine } from './audit/record-change.ts'
import type { OperatorRole } from './people/operators.ts'
import type { UserRole } from './people/users.ts'
import type { HolderPorts, OperatorPorts } from './ports.ts'
import type { BackOfficeSettings, GatewaySettings } from './settings.ts'

/** Use case without its ports, as an app calls it. */
export type Run = (...args: never[]) => Promise<unknown>

/** Role that a command needs, or 'anybody' for a command that is also called without a session. */
export type NeededRole<Role extends string> = Role | 'anybody'

/** Function that returns the audit line for the arguments of a call; false for a command that is not recorded. */
export type Audit<Of extends Run> = false | ((...args: Parameters<Of>) => AuditLine<Awaited<ReturnType<Of>>>)

/** A use case that changes something, with the role that it needs and its audit line. */
export interface Command<Role extends string, Ports, Settings, Of extends Run, Line extends Audit<Of>> {
  readonly role: NeededRole<Role>
  readonly run: (ports: Ports, settings: Settings) => Of
  readonly audit: Line
}

/** Declares a command of an account holder. */
export const holderCommand = <Of extends Run, Line extends Audit<Of>>(
  command: Command<UserRole, HolderPorts, GatewaySettings, Of, Line>,
): typeof command => command

/** Declares a command of an operator. */
export const operatorCommand = <Of extends Run, Line extends Audit<Of>>(
  command: Command<OperatorRole, OperatorPorts, BackOfficeSettings, Of, Line>,
): typeof command => command

type Runnable<Ports, Settings> = Readonly<Record<string, { readonly run: (ports: Ports, settings: Settings) => Run }>>

/** Use cases of a table of commands. */
export type Runs<Table extends Runnable<never, never>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['run']>
}

/** Returns the use cases of a table of commands on these ports. */
export const runsOf = <Ports, Settings, Table extends Runnable<Ports, Settings>>(
  table: Table,
  ports: Ports,
  settings: Settings,
): Runs<Table> =>
  Object.fromEntries(Object.entries(table).map(([name, { run }]) => [name, run(ports, settings)])) as Runs<Table>

/** Converts a use case that takes an account id into one that takes the account. */
export const byAccount =
  <Args extends readonly unknown[], Result>(useCase: (account: AccountId, ...args: Args) => Result) =>
  (account: Account, ...args: Args): Result =>
    useCase(account.id, ...args)
