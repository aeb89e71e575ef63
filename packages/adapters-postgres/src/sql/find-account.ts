import type { AccountRow } from '../accounts/find-accounts.ts'
import type { PreparedStatement } from './prepared-statement.ts'

const columns = `account.id, account.parent_id, account.locked,
  directory.login, directory.first_name, directory.surname, directory.own_number, directory.transactional,
  directory.from_networks, directory.requests_per_second, directory.recipients_per_second,
  array(select address from sender where account_id = account.id order by assigned_at, id) as codes`

const account = (id: string) =>
  `cross join lateral (select id, parent_id, locked from account where id = ${id} offset 0) account`

/**
 * The account whose key has the digest $1. On the hot connections: where a thousand accounts send less often than what is remembered
 * lasts, every request looks its key up, and planning that anew each time took the server 380 µs, more than the send itself. Now it
 * is 90 to 150.
 */
export const findKey: PreparedStatement<
  AccountRow & {
    readonly expires_at: number | null
    readonly revoked_at: number | null
    readonly key_networks: readonly string[]
  }
> = {
  name: 'find-key',
  text: `
select ${columns}, api_key.expires_at, api_key.revoked_at, api_key.key_networks
from api_key
${account('api_key.account_id')}
cross join lateral (select * from directory where account_id = api_key.account_id offset 0) directory
where api_key.hash = $1::text`,
}

/** The account of the user name $1, which is ASCII and in small letters, with the hash of its password. */
export const findLogin: PreparedStatement<AccountRow & { readonly password_hash: string | null }> = {
  name: 'find-login',
  text: `
select ${columns}, directory.password_hash
from directory
${account('directory.account_id')}
where lower(directory.login collate "C") = $1::text`,
}
