import type { BackOffice } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import { Link } from '../../components.tsx'

export type Logins = ReadonlyMap<AccountId, string>

/** Returns the logins to show beside the ids of accounts. */
export const loginsOf = ({ queries }: BackOffice, rows: readonly { readonly account: AccountId }[]): Promise<Logins> =>
  queries.listLogins([...new Set(rows.map(({ account }) => account))])

/** Link to the page of an account: its id, and its login if it is known. */
export const AccountLink = ({ id, logins }: { readonly id: AccountId; readonly logins: Logins }) => (
  <>
    <Link to={`/operator/accounts/${id}`}>{id}</Link> <span class="text">{logins.get(id)}</span>
  </>
)
