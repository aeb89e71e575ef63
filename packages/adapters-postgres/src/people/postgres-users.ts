import type { AccountId } from '@gateway/core/accounts'
import type { FactorOwner, PasswordLink, User, UserId, Users } from '@gateway/core/people'
import { sql, type Selectable, type UpdateObject } from 'kysely'
import type { Context } from '../context.ts'
import { hasRow, isAhead, secondsFromNow } from '../query-parts.ts'
import type { Tables } from '../tables.ts'
import { digestOf } from './password-digest.ts'

/** Uses the ordinary connections, because people sign in rarely. */
export function postgresUsers({ pools: { kysely } }: Context): Users {
  const selectUsers = () =>
    kysely
      .selectFrom('account_user')
      .select(['id', 'account_id', 'email', 'role', 'locked', 'added_at', 'password_hash'])
  const updateUsers = (columns: UpdateObject<Tables, 'account_user'>) =>
    kysely.updateTable('account_user').set(columns).returning('id')
  const updateUser = (account: AccountId, id: UserId, columns: UpdateObject<Tables, 'account_user'>) =>
    updateUsers(columns).where('account_id', '=', account).where('id', '=', id)

  /** Returns a query that makes an update and ends the sessions of the users that it changes. */
  const endingSessions = (update: ReturnType<typeof updateUsers>) =>
    kysely
      .with('changed', () => update)
      .with('ended', (query) =>
        query.deleteFrom('session').where('user_id', 'in', (ids) => ids.selectFrom('changed').select('changed.id')),
      )
      .selectFrom('changed')
      .select('id')

  return {
    async add(account, { email, role }, link) {
      const holder = await kysely.selectFrom('account').select('id').where('id', '=', account).executeTakeFirst()
      if (holder === undefined) return 'no-such-account'
      const added = await kysely
        .insertInto('account_user')
        .values({ account_id: account, email, role, ...columnsOf(link) })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst()
      return added?.id ?? 'email-taken'
    },
    async list(account) {
      const users = selectUsers()
        .where('account_id', '=', account)
        .orderBy(sql`lower(email)`)
      return (await users.execute()).map(userOf)
    },
    async find(account, id) {
      const row = await selectUsers().where('account_id', '=', account).where('id', '=', id).executeTakeFirst()
      return row && userOf(row)
    },
    async byEmail(email) {
      const row = await selectUsers()
        .where(sql<boolean>`lower(email) = lower(${email})`)
        .executeTakeFirst()
      return row && { user: userOf(row), password: row.password_hash ?? undefined }
    },
    async byLink(link) {
      const users = selectUsers().where('link_hash', '=', link).where(isAhead('link_until')).where('locked', '=', false)
      const row = await users.executeTakeFirst()
      return row && userOf(row)
    },
    offerLink: (account, id, link) => hasRow(updateUser(account, id, columnsOf(link))),
    /**
     * Removes the link. If two calls run concurrently, the second one waits for the row and then finds it without the
     * link.
     */
    setPasswordByLink(link, password) {
      const update = updateUsers({ password_hash: password, link_hash: null, link_until: null })
      const ofLink = update.where('link_hash', '=', link).where(isAhead('link_until')).where('locked', '=', false)
      return hasRow(endingSessions(ofLink))
    },
    setPassword: (account, id, password) =>
      hasRow(endingSessions(updateUser(account, id, { password_hash: password }))),
    /** The sessions that were opened under the previous hash stay open. */
    replaceHash(account, id, before, after) {
      const replaced = kysely
        .with('changed', () => updateUser(account, id, { password_hash: after }).where('password_hash', '=', before))
        .with('kept', (query) =>
          query
            .updateTable('session')
            .set({ opened_under: digestOf(after) })
            .where('user_id', 'in', (ids) => ids.selectFrom('changed').select('changed.id'))
            .where('opened_under', '=', digestOf(before)),
        )
      return hasRow(replaced.selectFrom('changed').select('id'))
    },
    setRole: (account, id, role) => hasRow(updateUser(account, id, { role })),
    setLocked(account, id, locked) {
      const update = updateUser(account, id, { locked })
      return hasRow(locked ? endingSessions(update) : update)
    },
    remove(account, id) {
      const removed = kysely
        .with('removed', (query) =>
          query.deleteFrom('account_user').where('account_id', '=', account).where('id', '=', id).returning('id'),
        )
        .with('forgotten', (query) =>
          query
            .deleteFrom('second_factor')
            .where('owner', 'in', (owners) =>
              owners.selectFrom('removed').select(sql<FactorOwner>`'user ' || id`.as('owner')),
            ),
        )
      return hasRow(removed.selectFrom('removed').select('id'))
    },
  }
}

const columnsOf = ({ hash, seconds }: PasswordLink) => ({ link_hash: hash, link_until: secondsFromNow(seconds) })

type UserColumns = 'id' | 'account_id' | 'email' | 'role' | 'locked' | 'added_at' | 'password_hash'

const userOf = (row: Pick<Selectable<Tables['account_user']>, UserColumns>): User => ({
  id: row.id,
  account: row.account_id,
  email: row.email,
  role: row.role,
  locked: row.locked,
  added: row.added_at,
  hasPassword: row.password_hash !== null,
})
