import { operatorRoles, type Operator, type OperatorRole } from '@gateway/core/people'
import { Argument, Option } from 'commander'
import { command, Refused, type Context, type Run } from '../command.ts'
import { timeJson, timeText } from '../show.ts'
import { readPassword, PASSWORD_WORDS } from './account.ts'

interface PasswordOptions {
  readonly password?: string
  readonly generate?: true
}

const WORDS = {
  'name-taken': 'An operator with this name already exists.',
  'invalid-name': 'A name is 1 to 64 printable ASCII characters without spaces.',
  ...PASSWORD_WORDS,
}

const passwordOption = () =>
  new Option('--password <password>', "the password; '-', the default, reads it from standard input").conflicts(
    'generate',
  )
const generateOption = ['--generate', 'create a random password and print it; it is not shown again'] as const

const choosePassword = ({ password, generate }: PasswordOptions, context: Context): string | Promise<string> =>
  generate === true ? context.ports.secrets.newPassword() : readPassword(password ?? '-', context)

export const operatorAdd = (run: Run) =>
  command(
    'add',
    'let a person sign in at the portal as an operator; support reads everything but cannot change credits',
    'gateway operator add ann --role support --generate',
  )
    .argument('<name>', 'the name for signing in, in any letter case')
    .addOption(new Option('--role <role>', 'what the person may do').choices(operatorRoles).makeOptionMandatory())
    .addOption(passwordOption())
    .option(...generateOption)
    .action((name: string, options: PasswordOptions & { readonly role: OperatorRole }) =>
      run(async (context) => {
        const password = await choosePassword(options, context)
        const id = await context.backOffice.commands.addOperator({ name, role: options.role }, password)
        if (typeof id === 'string') throw new Refused(WORDS[id])
        const shown = options.generate ? { password } : {}
        context.output.result(
          { id, name, role: options.role, ...shown },
          `Operator ${name} can sign in (${options.role}).${options.generate ? ` The password is ${password}` : ''}`,
        )
      }),
    )

export const operatorList = (run: Run) =>
  command('list', 'list the operators').action(() =>
    run(async ({ backOffice, output }) => {
      const operators = await backOffice.queries.listOperators()
      await output.rows(
        ['NAME', 'ROLE', 'STATE', 'ADDED'],
        operators.map(({ id, name, role, locked, added }) => ({
          json: { id, name, role, locked, since: timeJson(added) },
          cells: [name, role, locked ? 'locked' : '', timeText(added)],
        })),
      )
    }),
  )

const changing = (
  run: Run,
  verb: string,
  description: string,
  change: (context: Context, operator: Operator) => Promise<unknown>,
  outcome: string,
) =>
  command(verb, description, `gateway operator ${verb} ann`)
    .argument('<name>', 'the name of the operator')
    .action((name: string) =>
      run(async (context) => {
        const operator = await named(context, name)
        await change(context, operator)
        context.output.result({ id: operator.id, name: operator.name }, `Operator ${operator.name} ${outcome}.`)
      }),
    )

export const operatorLock = (run: Run) =>
  changing(
    run,
    'lock',
    'end all sessions of an operator and refuse sign-ins until the operator is unlocked',
    ({ backOffice }, { id }) => backOffice.commands.lockOperator(id),
    'is locked; all sessions have ended',
  )

export const operatorUnlock = (run: Run) =>
  changing(
    run,
    'unlock',
    'let an operator sign in again',
    ({ backOffice }, { id }) => backOffice.commands.unlockOperator(id),
    'can sign in again',
  )

export const operatorForgetFactor = (run: Run) =>
  changing(
    run,
    'forget-factor',
    'remove the second factor of an operator who has lost it',
    ({ backOffice }, { id }) => backOffice.commands.resetOperatorFactor(id),
    'has no second factor now',
  )

export const operatorRole = (run: Run) =>
  command('role', 'change the role of an operator, effective at once', 'gateway operator role ann admin')
    .argument('<name>', 'the name of the operator')
    .addArgument(new Argument('<role>', 'what the person may do').choices(operatorRoles))
    .action((name: string, role: OperatorRole) =>
      run(async (context) => {
        const { id } = await named(context, name)
        await context.backOffice.commands.setOperatorRole(id, role)
        context.output.result({ id, name, role }, `Operator ${name} now has the role ${role}.`)
      }),
    )

export const operatorPassword = (run: Run) =>
  command('password', "set an operator's password, which ends all sessions", 'gateway operator password ann --generate')
    .argument('<name>', 'the name of the operator')
    .addOption(passwordOption())
    .option(...generateOption)
    .action((name: string, options: PasswordOptions) =>
      run(async (context) => {
        const { id } = await named(context, name)
        const password = await choosePassword(options, context)
        const set = await context.backOffice.commands.setOperatorPassword(id, password)
        if (set === 'no-such-operator') throw noSuchOperator(name)
        if (set !== 'set') throw new Refused(WORDS[set])
        const shown = options.generate ? { password } : {}
        context.output.result(
          { id, name, ...shown },
          `The password of operator ${name} is set.${options.generate ? ` It is ${password}` : ''}`,
        )
      }),
    )

async function named({ backOffice }: Context, name: string): Promise<Operator> {
  const operators = await backOffice.queries.listOperators()
  const found = operators.find((one) => one.name.toLowerCase() === name.toLowerCase())
  return found ?? fail(noSuchOperator(name))
}

const noSuchOperator = (name: string): Refused => new Refused(`There is no operator ${name}.`)

const fail = (problem: Error): never => {
  throw problem
}
