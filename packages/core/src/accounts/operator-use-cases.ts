import type { AuditDetail } from '../audit/audit-log.ts'
import { withoutSomeDigits } from '../audit/redact.ts'
import { operatorCommand } from '../command.ts'
import type { AccountPorts } from '../ports.ts'
import type { AccountRate } from './account-rates.ts'
import type { AccountId, ApiKey, KeyId } from './account.ts'
import type { Accounts, AccountWithBalance } from './accounts.ts'
import {
  changeAccount,
  findAccount,
  findByLogin,
  issueApiKey,
  listSubAccounts,
  lockAccount,
  openAccount,
  revokeApiKey,
  setPassword,
  unlockAccount,
} from './change-account.ts'
import { closeAccount } from './close-account.ts'
import { outcomeOfKey } from './holder-use-cases.ts'

/** Seconds for which reported activity of a process counts. Processes report every ten seconds. */
const busySeconds = 30

/** Returns the fields of an audit line that name the account and read its state. */
export const stateOfAccount = (account: AccountId) => ({
  account,
  state: async ({ accounts }: AccountPorts): Promise<AuditDetail> => {
    const found = await accounts.find(account)
    if (found === undefined) return {}
    const { trial, ...rest } = found.account
    return { ...rest, trial: trial && withoutSomeDigits(trial.ownNumber), balanceTenths: found.balance }
  },
})

export const accountQueries = (ports: AccountPorts) => ({
  listAccounts: (after?: AccountId): AsyncIterable<AccountWithBalance> => ports.accounts.list(after),
  findAccount: (id: AccountId): Promise<AccountWithBalance | undefined> => ports.accounts.find(id),
  searchAccounts: (part: string, page: Parameters<Accounts['search']>[1]) => ports.accounts.search(part, page),
  listLogins: (ids: readonly AccountId[]) => ports.accounts.logins(ids),
  listSubAccounts: listSubAccounts(ports),
  findAccountByName: findAccount(ports),
  findAccountByLogin: findByLogin(ports),
  listBusyAccounts: (): Promise<readonly AccountRate[]> => ports.accountRates.list(busySeconds),
  listApiKeys: (id: AccountId): Promise<readonly ApiKey[]> => ports.accounts.keys(id),
})

export const accountCommands = {
  openAccount: operatorCommand({
    role: 'admin',
    run: openAccount,
    audit: ({ password, trial, ...options }) => ({
      given: { ...options, password: password !== undefined, trial: trial && withoutSomeDigits(trial.ownNumber) },
    }),
  }),
  changeAccount: operatorCommand({ role: 'admin', run: changeAccount, audit: stateOfAccount }),
  lockAccount: operatorCommand({ role: 'support', run: lockAccount, audit: stateOfAccount }),
  unlockAccount: operatorCommand({ role: 'support', run: unlockAccount, audit: stateOfAccount }),
  closeAccount: operatorCommand({
    role: 'admin',
    run: closeAccount,
    audit: (account, writeOff) => ({
      ...stateOfAccount(account),
      given: { writeOff },
      outcome: (closed) => (typeof closed === 'string' ? closed : { ...closed }),
    }),
  }),
  setPassword: operatorCommand({ role: 'admin', run: setPassword, audit: stateOfAccount }),
  issueApiKey: operatorCommand({
    role: 'admin',
    run: issueApiKey,
    audit: (account, { operation: _, ...about } = {}) => ({ account, given: { ...about }, outcome: outcomeOfKey }),
  }),
  revokeApiKey: operatorCommand({ role: 'support', run: revokeApiKey, audit: (key) => ({ given: { key } }) }),
  restrictApiKey: operatorCommand({
    role: 'admin',
    run: (ports) => (key: KeyId, from: readonly string[]) => ports.accounts.setKeyFrom(key, from),
    audit: (key, from) => ({ given: { key, from } }),
  }),
}
