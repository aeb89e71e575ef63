import type { OperatorId, OperatorRole } from '@gateway/core/people'
import { digestOfColumn } from '../people/password-digest.ts'
import { milliseconds } from './arrays.ts'
import { accountId, instant } from './columns.ts'
import { isWithinBounds, sessionBounds, sessionId } from './sessions.ts'
import { column, nullable, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`).

const columns = {
  operator: column<OperatorId>('int'),
  name: 'text',
  role: column<OperatorRole>('text'),
  locked: 'bool',
  added: instant,
  id: sessionId,
  opened: instant,
  used: instant,
  agent: 'text',
  address: 'text',
  secondFactor: 'bool',
  actsAs: nullable(accountId),
  actsUntil: nullable(instant),
} as const

/** Query for valid sessions with their operators. */
const session = sql`select operator.id operator, operator.name, operator.role, operator.locked,
  ${milliseconds('operator.added_at')} added, operator_session.id, ${milliseconds('opened_at')} opened,
  ${milliseconds('used_at')} used, agent, address, second_factor "secondFactor",
  case when acts_until > now() then acts_as end "actsAs", ${milliseconds('acts_until')} "actsUntil"
from operator_session
join operator on operator.id = operator_id and not locked and opened_under = ${digestOfColumn('password_hash')}`

/**
 * Finds a session. With `use`, records now as its last use, at most once a minute. Prepared, because every request of
 * the portal runs it.
 */
export const findOperatorSession = statement(
  'find-operator-session',
  { parameters: { hash: 'text', use: 'bool', ...sessionBounds }, columns },
  sql`
with found as (
  ${session} where hash = :hash and ${isWithinBounds}
), used as (
  update operator_session set used_at = now()
  where id in (select id from found) and :use and used_at < now() - interval '1 minute'
)
select * from found`,
)

export const listOperatorSessions = statement(
  'list-operator-sessions',
  { parameters: { operator: 'int', ...sessionBounds }, columns },
  sql`${session} where operator_id = :operator and ${isWithinBounds} order by used_at desc, operator_session.id desc`,
)
