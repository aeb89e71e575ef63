import type { UserRole } from '@gateway/core/people'
import { milliseconds } from './arrays.ts'
import { passwordDigest } from './sessions.ts'
import { rows, sql, statement } from './statement.ts'

// These statements are for the ordinary connections.

export interface UserRow {
  readonly id: number
  readonly account: number
  readonly email: string
  readonly role: UserRole
  readonly locked: boolean
  readonly added: number
  readonly password: string | null
}

const userColumns = rows<UserRow>({
  id: 'int',
  account: 'int',
  email: 'text',
  role: 'text',
  locked: 'bool',
  added: 'bigint',
  password: 'text',
})

const user = `select id, account_id account, email, role, locked, ${milliseconds('added_at')} added, password_hash "password"
from account_user`

/** Condition that a link for setting the password is valid. */
const linkIsValid = `link_hash = :link and link_until > now() and not locked`

/** Adds a user. `found` is 0 if the account does not exist; `id` is null if the email address is in use. */
export const addUser = statement(
  'add-user',
  {
    parameters: { account: 'int', email: 'text', role: 'text', link: 'text', seconds: 'float8' },
    columns: { found: 'bigint', id: 'int?' },
  },
  sql`
with found as (
  select id from account where id = :account
), added as (
  insert into account_user (account_id, email, role, link_hash, link_until)
  select id, :email, :role, :link, now() + make_interval(secs => :seconds) from found
  on conflict do nothing
  returning id
)
select (select count(*) from found) found, (select id from added) id`,
)

/** Lists the users of an account, or only the one with this id. */
export const listUsers = statement(
  'list-users',
  { parameters: { account: 'int', id: 'int?' }, columns: userColumns },
  sql`${user} where account_id = :account and (:id is null or id = :id) order by lower(email)`,
)

export const findUserByEmail = statement(
  'find-user-by-email',
  { parameters: { email: 'text' }, columns: userColumns },
  sql`${user} where lower(email) = lower(:email)`,
)

export const findUserByLink = statement(
  'find-user-by-link',
  { parameters: { link: 'text' }, columns: userColumns },
  sql`${user} where ${linkIsValid}`,
)

/** Changes the fields that are not null. Locking a user or changing the password ends all sessions. */
export const changeUser = statement(
  'change-user',
  {
    parameters: { account: 'int', id: 'int', locked: 'bool?', password: 'text?', role: 'text?' },
    columns: { id: 'int' },
  },
  sql`
with changed as (
  update account_user
  set locked = coalesce(:locked, locked), password_hash = coalesce(:password, password_hash),
    role = coalesce(:role, role)
  where account_id = :account and id = :id
  returning id
), ended as (
  delete from session where user_id in (select id from changed) and (:locked or :password is not null)
)
select id from changed`,
)

/** Replaces a password hash. Sessions opened under the previous hash stay open. */
export const replaceUserHash = statement(
  'replace-user-hash',
  { parameters: { account: 'int', id: 'int', before: 'text', after: 'text' }, columns: { id: 'int' } },
  sql`
with changed as (
  update account_user set password_hash = :after
  where account_id = :account and id = :id and password_hash = :before
  returning id
), kept as (
  update session set opened_under = ${passwordDigest(':after')}
  where user_id in (select id from changed) and opened_under = ${passwordDigest(':before')}
)
select id from changed`,
)

export const offerUserLink = statement(
  'offer-user-link',
  { parameters: { account: 'int', id: 'int', link: 'text', seconds: 'float8' }, columns: { id: 'int' } },
  sql`
update account_user set link_hash = :link, link_until = now() + make_interval(secs => :seconds)
where account_id = :account and id = :id
returning id`,
)

/**
 * Sets a password by a link, which it removes. Returns no row if the link was used before: of two concurrent calls the
 * second waits for the row and finds it without the link.
 */
export const setPasswordByLink = statement(
  'set-password-by-link',
  { parameters: { link: 'text', password: 'text' }, columns: { id: 'int' } },
  sql`
with changed as (
  update account_user set password_hash = :password, link_hash = null, link_until = null
  where ${linkIsValid}
  returning id
), ended as (
  delete from session where user_id in (select id from changed)
)
select id from changed`,
)

export const removeUser = statement(
  'remove-user',
  { parameters: { account: 'int', id: 'int' }, columns: { id: 'int' } },
  sql`
with removed as (
  delete from account_user where account_id = :account and id = :id returning id
), forgotten as (
  delete from second_factor where owner in (select 'user ' || id from removed)
)
select id from removed`,
)
