import type { BackOfficeCommands, BackOfficeQueries } from '@gateway/core'
import type { Account, AccountId } from '@gateway/core/accounts'
import { credits } from '@gateway/core/credits'
import type { Secrets } from '@gateway/core/people'

/** Credentials for the person who starts the gateway first; shown once. */
export interface DemoAccount {
  readonly id: AccountId
  readonly subLogin: string
  readonly login: string
  readonly password: string
  readonly apiKey: string
}

interface Desk {
  readonly queries: Pick<BackOfficeQueries, 'listAccounts' | 'listApiKeys'>
  readonly commands: Pick<BackOfficeCommands, 'openAccount' | 'setPassword' | 'revokeApiKey' | 'issueApiKey'>
}

const [login, subLogin, label] = ['demo', 'demo-sub', 'demo']
const [main, sub] = [
  { firstName: 'Demo', surname: 'Account' },
  { firstName: 'Demo', surname: 'Sub' },
]
const granted = credits(10_000)

/**
 * Opens a main account with 1000.0 credits on a database without accounts, shows its key, and then opens its sub
 * account. While the sub account is missing, the next call shows new credentials. Returns true if credentials were
 * shown. Only one process may call this at a time.
 */
export async function openDemoAccount(
  backOffice: Desk,
  secrets: Pick<Secrets, 'newPassword'>,
  show: (demo: DemoAccount) => boolean | Promise<boolean>,
): Promise<boolean> {
  const found = await unfinished(backOffice)
  if (found === 'none-wanted') return false
  const password = secrets.newPassword()
  const id = found === 'empty' ? await open(backOffice, password) : found
  if (id === 'login-taken') return false
  if (found !== 'empty') await forget(backOffice, id, password)
  const issued = await backOffice.commands.issueApiKey(id, { label })
  if (typeof issued === 'string') throw new Error(`the demo key could not be issued: ${issued}`)

  if (!(await show({ id, subLogin, login, password, apiKey: issued.key }))) return false
  const opened = await backOffice.commands.openAccount({ ...sub, login: subLogin, parent: id })
  if (typeof opened === 'string') throw new Error(`the demo sub account could not be opened: ${opened}`)
  return true
}

/**
 * Returns the id of the demo account if it is the only account, because its sub account is missing then. Returns
 * 'empty' if there is no account, and 'none-wanted' in all other cases.
 */
async function unfinished(backOffice: Desk): Promise<'empty' | AccountId | 'none-wanted'> {
  let only: Account | undefined
  for await (const { account } of backOffice.queries.listAccounts()) {
    if (only !== undefined || !isDemo(account)) return 'none-wanted'
    only = account
  }
  return only?.id ?? 'empty'
}

const isDemo = (account: Account): boolean =>
  account.login === login && account.firstName === main.firstName && account.surname === main.surname

async function open(backOffice: Desk, password: string): Promise<AccountId | 'login-taken'> {
  const id = await backOffice.commands.openAccount({ ...main, login, password, credits: granted })
  // The command line may have opened an account with this login at the same moment.
  if (typeof id === 'number' || id === 'login-taken') return id
  throw new Error(`the demo account could not be opened: ${id}`)
}

/** Invalidate credentials that an earlier call may have shown. */
async function forget(backOffice: Desk, id: AccountId, password: string): Promise<void> {
  for (const key of await backOffice.queries.listApiKeys(id)) {
    if (key.label === label && key.revoked === undefined) await backOffice.commands.revokeApiKey(key.id)
  }
  const set = await backOffice.commands.setPassword(id, password)
  if (set !== 'set') throw new Error(`the password of the demo account could not be set: ${set}`)
}
