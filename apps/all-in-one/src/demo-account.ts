import { credits, type AccountId, type BackOffice, type Secrets } from '@gateway/core'

/** What the first person to start the gateway needs; shown once. */
export interface DemoAccount {
  readonly id: AccountId
  readonly subAccount: AccountId
  readonly login: string
  readonly password: string
  readonly apiKey: string
}

const login = 'demo'
const granted = credits(10_000)

/** Opens a main account with 1000.0 credits and one sub account, if the database holds no account; else undefined. */
export async function openDemoAccount(
  backOffice: BackOffice,
  secrets: Pick<Secrets, 'newPassword'>,
): Promise<DemoAccount | undefined> {
  for await (const _account of backOffice.listAccounts()) return undefined
  const password = secrets.newPassword()
  const id = await backOffice.openAccount({ login, password, credits: granted, firstName: 'Demo', surname: 'Account' })
  // Another process started on the same empty database at the same time.
  if (id === 'login-taken') return undefined
  if (typeof id === 'string') throw new Error(`the demo account could not be opened: ${id}`)

  const subAccount = await backOffice.openAccount({
    login: `${login}-sub`,
    parent: id,
    firstName: 'Demo',
    surname: 'Sub',
  })
  if (typeof subAccount === 'string') throw new Error(`the demo sub account could not be opened: ${subAccount}`)
  const key = await backOffice.issueApiKey(id, { label: 'demo' })
  if (typeof key === 'string') throw new Error(`the demo key could not be issued: ${key}`)
  return { id, subAccount, login, password, apiKey: key.key }
}
