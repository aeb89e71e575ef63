import { userRoles, type User, type UserRole } from '@gateway/core/people'
import { Argument, Option } from 'commander'
import { readAccount, type AccountName } from '../arguments.ts'
import { command, Refused, type Context, type Run } from '../command.ts'
import { timeJson, timeText } from '../show.ts'
import { accountOf, noSuchAccount } from './account.ts'

const WORDS = {
  'invalid-email': 'The e-mail address must look like ann@acme.example.',
  'email-taken': 'A user with this e-mail address already exists, in this account or another one.',
}

/** Returns the path of an invitation. This command does not know the address of the portal. */
const linkOf = (token: string): string => `/invitation?token=${token}`

const linkText = (link: string): string =>
  `The link is ${link} below the address of the portal. It can be used once, within three days, to set a password.`

export const accountUserAdd = (run: Run) =>
  command(
    'add',
    'let a person sign in at the portal for an account; prints a link for the person, which is not shown again',
    'gateway account user add 3 ann@acme.example --role sender',
  )
    .argument('<account>', "the account's id or login", readAccount)
    .argument('<email>', 'the name for signing in, in any letter case')
    .addOption(new Option('--role <role>', 'what the person may do').choices(userRoles).makeOptionMandatory())
    .action((name: AccountName, email: string, { role }: { readonly role: UserRole }) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        const invited = await backOffice.commands.inviteUser(account, { email, role })
        if (invited === 'no-such-account') throw noSuchAccount(account)
        if (typeof invited === 'string') throw new Refused(WORDS[invited])
        const link = linkOf(invited.token)
        output.result({ id: invited.id, account, email, role, link }, `${email} is a user (${role}). ${linkText(link)}`)
      }),
    )

export const accountUserList = (run: Run) =>
  command('list', 'list the users of an account', 'gateway account user list 3')
    .argument('<account>', "the account's id or login", readAccount)
    .action((name: AccountName) =>
      run(async ({ accountId, backOffice, output }) => {
        const account = await accountId(name)
        await accountOf(backOffice, account)
        const users = await backOffice.queries.listUsers(account)
        await output.rows(
          ['E-MAIL', 'ROLE', 'STATE', 'ADDED'],
          users.map(({ id, email, role, locked, hasPassword, added }) => ({
            json: { id, account, email, role, locked, hasPassword, since: timeJson(added) },
            cells: [email, role, locked ? 'locked' : hasPassword ? '' : 'invited', timeText(added)],
          })),
        )
      }),
    )

const changing = (
  run: Run,
  verb: string,
  description: string,
  change: (context: Context, user: User) => Promise<unknown>,
  outcome: string,
) =>
  command(verb, description, `gateway account user ${verb} ann@acme.example`)
    .argument('<email>', 'the e-mail address of the user')
    .action((email: string) =>
      run(async (context) => {
        const user = await named(context, email)
        await change(context, user)
        const { id, account } = user
        context.output.result({ id, account, email: user.email }, `User ${user.email} ${outcome}.`)
      }),
    )

export const accountUserLock = (run: Run) =>
  changing(
    run,
    'lock',
    'end all sessions of a user and refuse sign-ins until the user is unlocked',
    ({ backOffice }, { account, id }) => backOffice.commands.lockUser(account, id),
    'is locked; all sessions have ended',
  )

export const accountUserUnlock = (run: Run) =>
  changing(
    run,
    'unlock',
    'let a user sign in again',
    ({ backOffice }, { account, id }) => backOffice.commands.unlockUser(account, id),
    'can sign in again',
  )

export const accountUserRemove = (run: Run) =>
  changing(
    run,
    'remove',
    'remove a user, who can be added again',
    ({ backOffice }, { account, id }) => backOffice.commands.removeUser(account, id),
    'is removed; all sessions have ended',
  )

export const accountUserForgetFactor = (run: Run) =>
  changing(
    run,
    'forget-factor',
    'remove the second factor of a user who has lost it',
    ({ backOffice }, { account, id }) => backOffice.commands.resetUserFactor(account, id),
    'has no second factor now',
  )

export const accountUserLink = (run: Run) =>
  command(
    'link',
    'print a link with which a user sets a new password; it is not shown again',
    'gateway account user link ann@acme.example',
  )
    .argument('<email>', 'the e-mail address of the user')
    .action((email: string) =>
      run(async (context) => {
        const { account, id } = await named(context, email)
        const renewed = await context.backOffice.commands.renewUserLink(account, id)
        if (typeof renewed === 'string') throw noSuchUser(email)
        const link = linkOf(renewed.token)
        context.output.result({ id, account, email, link }, linkText(link))
      }),
    )

export const accountUserRole = (run: Run) =>
  command('role', 'change the role of a user, effective at once', 'gateway account user role ann@acme.example owner')
    .argument('<email>', 'the e-mail address of the user')
    .addArgument(new Argument('<role>', 'what the person may do').choices(userRoles))
    .action((email: string, role: UserRole) =>
      run(async (context) => {
        const { account, id } = await named(context, email)
        await context.backOffice.commands.setUserRole(account, id, role)
        context.output.result({ id, account, email, role }, `User ${email} now has the role ${role}.`)
      }),
    )

async function named({ backOffice }: Context, email: string): Promise<User> {
  const found = await backOffice.queries.findUserByEmail(email)
  if (found === undefined) throw noSuchUser(email)
  return found
}

const noSuchUser = (email: string): Refused => new Refused(`There is no user ${email}.`)
