import type { Session } from '@gateway/core/people'
import { rows, sql, statement, type RowOf } from './statement.ts'
import { milliseconds } from './arrays.ts'

/** What a password is known by in a session: no more than whether it is still the same. */
export const passwordDigest = (password: string) => `sha256(convert_to(coalesce(${password}, ''), 'UTF8'))`

export const sessionBounds = { idleSeconds: 'float8', secondsMax: 'float8' } as const

export const openedFrom = { agent: 'text', address: 'text', secondFactor: 'bool' } as const

export const withinBounds = `used_at > now() - make_interval(secs => :idleSeconds)
  and opened_at > now() - make_interval(secs => :secondsMax)`

/** Sessions that count: of accounts that are not locked, and of users who are not, with the password as it was. */
const counting = `session
join account on account.id = session.account_id and not account.locked
join directory on directory.account_id = session.account_id and (second_factor or not second_factor_required)
left join account_user on account_user.id = user_id
where account_user.locked is not true and opened_under = ${passwordDigest(
  'case when user_id is null then directory.password_hash else account_user.password_hash end',
)}`

/** Of a user, or of whoever has the account's own password. */
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

/** Opens a session, if its owner has this password and is not locked; forgets those of the account that are over. */
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

/** Links that nobody used go with the next one that is offered. */
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

/** Whoever deletes the link opens the session. */
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

/** A use is written once a minute: a page that is open costs no commit each second. */
export const findSession = statement(
  'find-session',
  { parameters: { hash: 'text', use: 'bool', ...sessionBounds }, columns: sessionColumns },
  sql`
with found as (
  select ${columns} from ${counting} and session.hash = :hash and ${withinBounds}
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
select ${columns} from ${counting} and ${ofOwner} and ${withinBounds}
order by used_at desc, session.id desc`,
)

/** One session of the owner, or all but one (`only` null); `but` null: all. */
export const endSessions = statement(
  'end-sessions',
  { parameters: { account: 'int', user: 'int?', only: 'bigint?', but: 'bigint?' }, columns: { id: 'bigint' } },
  sql`
delete from session
where ${ofOwner} and (:only is null or id = :only) and (:but is null or id <> :but)
returning id`,
)
