import { byAccount, holderCommand } from '../command.ts'
import type { AccountPorts } from '../ports.ts'
import type { CallingCode } from '../messages/msisdn.ts'
import type { Account } from './account.ts'
import { authenticate } from './authenticate.ts'
import { issueApiKey, listSubAccounts, revokeOwnKey, type IssuedKey, type NewKeyOptions } from './change-account.ts'

/** Returns the outcome of a new key for the audit log, without the key itself. */
export const outcomeOfKey = (issued: IssuedKey | string) => (typeof issued === 'string' ? issued : { key: issued.id })

export const accountQueries = (ports: AccountPorts) => ({
  listSubAccounts: listSubAccounts(ports),
  listKeys: ({ id }: Account) => ports.accounts.keys(id),
})

export const accountCommands = {
  /** Logs in. This is a command, because requests and failed log-ins are counted. */
  authenticate: holderCommand({
    role: 'anybody',
    run: (ports, { activity }) => authenticate(ports, activity),
    audit: false,
  }),
  issueKey: holderCommand({
    role: 'owner',
    run: (ports) => byAccount((account, options: NewKeyOptions) => issueApiKey(ports)(account, options)),
    audit: (_account, { operation: _, ...about }) => ({ given: { ...about }, outcome: outcomeOfKey }),
  }),
  setCallingCode: holderCommand({
    role: 'owner',
    run: (ports) => (account: Account, callingCode: CallingCode | null) =>
      ports.accounts.change(account.id, { callingCode }),
    audit: (account, callingCode) => ({ given: { callingCode, before: account.callingCode ?? null } }),
  }),
  revokeKey: holderCommand({
    role: 'owner',
    run: revokeOwnKey,
    audit: (_account, key) => ({ given: { key } }),
  }),
}
