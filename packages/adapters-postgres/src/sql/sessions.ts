import type { Session } from '@gateway/core/people'
import { rows, sql, statement, type RowOf } from './statement.ts'
import { milliseconds } from './arrays.ts'

/** Digest of a password hash, stored in a session so that a changed password ends the session. */
export const passwordDigest = (password: string) => `sha256(convert_to(coalesce(${password}, ''), 'UTF8'))`

export const sessionBounds = { idleSeconds: 'float8', secondsMax: 'float8' } as const

export const openedFrom = { agent: 'text', address: 'text', secondFactor: 'bool' } as const

export const withinBounds = `used_at > now() - make_interval(secs => :idleSeconds)
  and opened_at > now() - make_interval(secs => :secondsMax)`

/** Valid sessions: account and user are not locked and the password is the one the session was opened with. */
const validSession = `session
join account on account.id = session.account_id and not account.locked
join directory on directory.account_id = session.account_id and (second_factor or not second_factor_required)
left join account_user on account_user.id = user_id
where account_user.locked is not true and opened_under = ${passwordDigest(
  'case when user_id is null then directory.password_hash else account_user.password_hash end',
)}`

/** Condition for the sessions of a user or, if `:user` is null, of the account's own password. */
const ofOwner = `session.account_id = :account and user_id is not distinct from :user`

const columns = `session.id, session.account_id account, user_id "user", ${milliseconds('opened_at')} opened,
  ${milliseconds('used_at')} used, agent, address`

const sessionColumns = rows<RowOf<Session>>({
  id: 'bigint',
  account: 'int',
  user: 'int',
  opened: 'bigint',
  used: 'bigint',
  agent: 'text',
  address: 'text',
})

/** Opens a session if its owner has this password and is not locked. Deletes expired sessions of the account. */
export const openSession = statement(
  'open-session',
  {
    parameters: { account: 'int', user: 'int?', password: 'text', hash: 'text', ...openedFrom, ...sessionBounds },
    columns: { id: 'bigint' },
  },
  sql`
with over as (
  delete from session where account_id = :account and not (${withinBounds})
), owner as (
  select account_id, null::int user_id from directory
  where :user is null and account_id = :account and password_hash = :password
  union all
  select account_id, id from account_user
  where id = :user and account_id = :account and password_hash = :password and not locked
)
insert into session (hash, account_id, user_id, opened_under, agent, address, second_factor)
select :hash, account.id, owner.user_id, ${passwordDigest(':password')}, :agent, :address, :secondFactor
from owner
join account on account.id = owner.account_id and not account.locked
returning id`,
)

/** Stores a sign-in link and deletes expired ones. */
export const offerLink = statement(
  'offer-link',
  { parameters: { account: 'int', link: 'text', seconds: 'float8' }, columns: { offered: 'int' } },
  sql`
with over as (
  delete from sign_in_link where until <= now()
)
insert into sign_in_link (hash, account_id, until)
select :link, id, now() + make_interval(secs => :seconds) from account where id = :account
returning account_id offered`,
)

/** Opens a session by deleting a sign-in link, so that each link works once. */
export const openByLink = statement(
  'open-by-link',
  {
    parameters: { link: 'text', hash: 'text', ...openedFrom },
    columns: { id: 'bigint' },
  },
  sql`
with used as (
  delete from sign_in_link where hash = :link returning account_id, until
)
insert into session (hash, account_id, opened_under, agent, address, second_factor)
select :hash, account.id, ${passwordDigest('password_hash')}, :agent, :address, :secondFactor
from used
join account on account.id = used.account_id and not locked
join directory on directory.account_id = account.id
where until > now() and not exists (select from second_factor where owner = 'account ' || account.id)
returning id`,
)

/**
 * Finds a session. With `use`, records now as its last use, at most once a minute so that an open page does not cost a
 * commit each second.
 */
export const findSession = statement(
  'find-session',
  { parameters: { hash: 'text', use: 'bool', ...sessionBounds }, columns: sessionColumns },
  sql`
with found as (
  select ${columns} from ${validSession} and session.hash = :hash and ${withinBounds}
), used as (
  update session set used_at = now()
  where id in (select id from found) and :use and used_at < now() - interval '1 minute'
)
select * from found`,
)

export const listSessions = statement(
  'list-sessions',
  { parameters: { account: 'int', user: 'int?', ...sessionBounds }, columns: sessionColumns },
  sql`
select ${columns} from ${validSession} and ${ofOwner} and ${withinBounds}
order by used_at desc, session.id desc`,
)

/** Ends one session of the owner, or, if `only` is null, all except `but`; if that is null too, all. */
export const endSessions = statement(
  'end-sessions',
  { parameters: { account: 'int', user: 'int?', only: 'bigint?', but: 'bigint?' }, columns: { id: 'bigint' } },
  sql`
delete from session
where ${ofOwner} and (:only is null or id = :only) and (:but is null or id <> :but)
returning id`,
)
