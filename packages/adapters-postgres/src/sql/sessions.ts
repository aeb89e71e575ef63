import type { SessionId, UserId } from '@gateway/core/people'
import { digestOfColumn } from '../people/password-digest.ts'
import { accountId, instant } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'
import { milliseconds } from './arrays.ts'

// Run these statements on the ordinary connections (`pools.ordinary`).

export const sessionBounds = { idleSeconds: 'float8', secondsMax: 'float8' } as const

export const isWithinBounds = sql`used_at > now() - make_interval(secs => :idleSeconds)
  and opened_at > now() - make_interval(secs => :secondsMax)`

export const sessionId = column<SessionId>('bigint')

/** Valid sessions: account and user are not locked and the password is the one the session was opened with. */
const validSession = sql`session
join account on account.id = session.account_id and not account.locked
join directory on directory.account_id = session.account_id and (second_factor or not second_factor_required)
left join account_user on account_user.id = user_id
where account_user.locked is not true and opened_under = ${digestOfColumn(
  'case when user_id is null then directory.password_hash else account_user.password_hash end',
)}`

const session = sql`session.id, session.account_id account, user_id "user", ${milliseconds('opened_at')} opened,
  ${milliseconds('used_at')} used, agent, address`

const sessionColumns = {
  id: sessionId,
  account: accountId,
  user: nullable(column<UserId>('int')),
  opened: instant,
  used: instant,
  agent: 'text',
  address: 'text',
} as const

/**
 * Finds a session. With `use`, records now as its last use, at most once a minute so that an open page does not cost a
 * commit each second. Prepared, because every request of the portal runs it.
 */
export const findSession = statement(
  'find-session',
  { parameters: { hash: 'text', use: 'bool', ...sessionBounds }, columns: sessionColumns },
  sql`
with found as (
  select ${session} from ${validSession} and session.hash = :hash and ${isWithinBounds}
), used as (
  update session set used_at = now()
  where id in (select id from found) and :use and used_at < now() - interval '1 minute'
)
select * from found`,
)

/** Lists the valid sessions of a user or, if `user` is null, of the account's own password. */
export const listSessions = statement(
  'list-sessions',
  { parameters: { account: 'int', user: 'int?', ...sessionBounds }, columns: sessionColumns },
  sql`
select ${session} from ${validSession} and session.account_id = :account and user_id is not distinct from :user
  and ${isWithinBounds}
order by used_at desc, session.id desc`,
)
