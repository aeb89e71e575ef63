import type { AccountChange, AccountId, ChangeRefusal } from '@gateway/core'
import type { Kysely } from 'kysely'
import { notifyOthers } from '../changes.ts'
import { isTaken } from '../errors.ts'
import type { Tables } from '../tables.ts'

/** One statement that writes only the columns that are named; of two that race for a user name the index lets one through. */
export async function changeAccount(
  kysely: Kysely<Tables>,
  id: AccountId,
  { login, firstName, surname, trial, transactional, from, requestsPerSecond, recipientsPerSecond }: AccountChange,
): Promise<'changed' | ChangeRefusal> {
  const columns = {
    // At least one column: it tells whether the account is there.
    account_id: id,
    ...(login !== undefined && { login }),
    ...(firstName !== undefined && { first_name: firstName }),
    ...(surname !== undefined && { surname }),
    ...(trial !== undefined && { own_number: trial === null ? null : Number(trial.ownNumber) }),
    ...(transactional !== undefined && { transactional }),
    ...(from !== undefined && { from_networks: from }),
    ...(requestsPerSecond !== undefined && { requests_per_second: requestsPerSecond }),
    ...(recipientsPerSecond !== undefined && { recipients_per_second: recipientsPerSecond }),
  }
  const changed = kysely.updateTable('directory').set(columns).where('account_id', '=', id)
  try {
    return (await changed.returning(notifyOthers.as('told')).execute()).length > 0 ? 'changed' : 'no-such-account'
  } catch (error) {
    if (isTaken(error, 'directory_login')) return 'login-taken'
    throw error
  }
}
