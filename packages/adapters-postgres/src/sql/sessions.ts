import type { Session } from '@gateway/core'
import { milliseconds } from './arrays.ts'
import { rows, sql, statement } from './statement.ts'

/** What a password is known by in a session: no more than whether it is still the same. */
export const passwordDigest = (password: string) => `sha256(convert_to(coalesce(${password}, ''), 'UTF8'))`

export const sessionBounds = { idleSeconds: 'float8', secondsMax: 'float8' } as const

export const openedFrom = { agent: 'text', address: 'text', secondFactor: 'bool' } as const

export const withinBounds = `used_at > now() - make_interval(secs => :idleSeconds)
  and opened_at > now() - make_interval(secs => :secondsMax)`

/** A session that counts, beside its account. */
const holder = `join account on account.id = session.account_id and not locked
join directory on directory.account_id = session.account_id and opened_under = ${passwordDigest('password_hash')}
  and (second_factor or not second_factor_required)`

const columns = `session.id, session.account_id account, ${milliseconds('opened_at')} opened,
  ${milliseconds('used_at')} used, agent, address`

const sessionColumns = rows<Session>({
  id: 'bigint',
  account: 'int',
  opened: 'bigint',
  used: 'bigint',
  agent: 'text',
  address: 'text',
})

/** Opens a session, if the account has this password and is not locked, and deletes those of it that are over. */
export const openSession = statement(
  'open-session',
  {
    parameters: { account: 'int', password: 'text', hash: 'text', ...openedFrom, ...sessionBounds },
    columns: { id: 'bigint' },
  },
  sql`
with over as (
  delete from session where account_id = :account and not (${withinBounds})
)
insert into session (hash, account_id, opened_under, agent, address, second_factor)
select :hash, account.id, ${passwordDigest('password_hash')}, :agent, :address, :secondFactor
from account
join directory on directory.account_id = account.id and password_hash = :password
where account.id = :account and not locked
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
  select ${columns} from session ${holder} where session.hash = :hash and ${withinBounds}
), used as (
  update session set used_at = now()
  where id in (select id from found) and :use and used_at < now() - interval '1 minute'
)
select * from found`,
)

export const listSessions = statement(
  'list-sessions',
  { parameters: { account: 'int', ...sessionBounds }, columns: sessionColumns },
  sql`
select ${columns} from session ${holder}
where session.account_id = :account and ${withinBounds}
order by used_at desc, session.id desc`,
)

/** One session of the account, or all but one (`only` null); `but` null: all. */
export const endSessions = statement(
  'end-sessions',
  { parameters: { account: 'int', only: 'bigint?', but: 'bigint?' }, columns: { id: 'bigint' } },
  sql`
delete from session
where account_id = :account and (:only is null or id = :only) and (:but is null or id <> :but)
returning id`,
)
