import type { AccountRow } from '../accounts/account-row.ts'
import type { PreparedStatement } from './prepared-statement.ts'

const columns = `a.id, a.parent_id, a.locked, d.login, d.first_name, d.surname, d.own_number, d.transactional,
  d.from_networks, d.requests_per_second, d.recipients_per_second,
  array(select address from sender where account_id = a.id order by assigned_at, id) as codes`

const account = (id: string) =>
  `cross join lateral (select id, parent_id, locked from account where id = ${id} offset 0) a`

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
select ${columns}, k.expires_at, k.revoked_at, k.key_networks
from api_key k ${account('k.account_id')}
cross join lateral (select * from directory where account_id = k.account_id offset 0) d
where k.hash = $1::text`,
}

/** The account of the user name $1, which is ASCII and in small letters, with the hash of its password. */
export const findLogin: PreparedStatement<AccountRow & { readonly password_hash: string | null }> = {
  name: 'find-login',
  text: `
select ${columns}, d.password_hash
from directory d ${account('d.account_id')}
where lower(d.login collate "C") = $1::text`,
}
