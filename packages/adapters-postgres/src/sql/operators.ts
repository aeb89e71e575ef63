import type { OperatorRole } from '@gateway/core/people'
import { milliseconds } from './arrays.ts'
import { openedFrom, passwordDigest, sessionBounds, withinBounds } from './sessions.ts'
import { rows, sql, statement } from './statement.ts'

// These statements are for the ordinary connections.

export interface OperatorRow {
  readonly id: number
  readonly name: string
  readonly role: OperatorRole
  readonly locked: boolean
  readonly added: number
  readonly password: string
}

const operatorColumns = rows<OperatorRow>({
  id: 'int',
  name: 'text',
  role: 'text',
  locked: 'bool',
  added: 'bigint',
  password: 'text',
})

const operator = `operator.id, operator.name, operator.role, operator.locked,
  ${milliseconds('operator.added_at')} as added, operator.password_hash as password`

export const addOperator = statement(
  'add-operator',
  { parameters: { name: 'text', role: 'text', password: 'text' }, columns: { id: 'int' } },
  sql`
insert into operator (name, role, password_hash) values (:name, :role, :password)
on conflict do nothing
returning id`,
)

/** Lists all operators, or only the one of this name. */
export const listOperators = statement(
  'list-operators',
  { parameters: { name: 'text?' }, columns: operatorColumns },
  sql`
select ${operator}
from operator
where :name is null or lower(name) = lower(:name)
order by lower(name)`,
)

/** Changes the fields that are not null. Locking an operator or changing the password ends all sessions. */
export const changeOperator = statement(
  'change-operator',
  { parameters: { id: 'int', locked: 'bool?', password: 'text?', role: 'text?' }, columns: { id: 'int' } },
  sql`
with changed as (
  update operator
  set locked = coalesce(:locked, locked), password_hash = coalesce(:password, password_hash),
    role = coalesce(:role, role)
  where id = :id
  returning id
), ended as (
  delete from operator_session where operator_id = :id and (:locked or :password is not null)
)
select id from changed`,
)

/** Replaces a password hash. Sessions opened under the previous hash stay open. */
export const replaceOperatorHash = statement(
  'replace-operator-hash',
  { parameters: { id: 'int', before: 'text', after: 'text' }, columns: { id: 'int' } },
  sql`
with changed as (
  update operator set password_hash = :after where id = :id and password_hash = :before returning id
), kept as (
  update operator_session set opened_under = ${passwordDigest(':after')}
  where operator_id in (select id from changed) and opened_under = ${passwordDigest(':before')}
)
select id from changed`,
)

export const openOperatorSession = statement(
  'open-operator-session',
  {
    parameters: {
      ...{ operator: 'int', password: 'text', hash: 'text' },
      ...openedFrom,
      ...sessionBounds,
    },
    columns: { id: 'bigint' },
  },
  sql`
with over as (
  delete from operator_session where operator_id = :operator and not (${withinBounds})
)
insert into operator_session (hash, operator_id, opened_under, agent, address, second_factor)
select :hash, id, ${passwordDigest('password_hash')}, :agent, :address, :secondFactor
from operator
where id = :operator and password_hash = :password and not locked
returning id`,
)

export interface OperatorSessionRow extends OperatorRow {
  readonly session: number
  readonly opened: number
  readonly used: number
  readonly agent: string
  readonly address: string
  readonly secondFactor: boolean
  readonly actsAs: number | null
  readonly actsUntil: number | null
}

const sessionColumns = rows<OperatorSessionRow>({
  id: 'int',
  name: 'text',
  role: 'text',
  locked: 'bool',
  added: 'bigint',
  password: 'text',
  session: 'bigint',
  opened: 'bigint',
  used: 'bigint',
  agent: 'text',
  address: 'text',
  secondFactor: 'bool',
  actsAs: 'int',
  actsUntil: 'bigint',
})

/** Query for valid sessions joined with their operators. */
const session = `select ${operator}, operator_session.id as session, ${milliseconds('opened_at')} as opened,
  ${milliseconds('used_at')} as used, agent, address, second_factor as "secondFactor",
  case when acts_until > now() then acts_as end as "actsAs", ${milliseconds('acts_until')} as "actsUntil"
from operator_session
join operator on operator.id = operator_id and not locked and opened_under = ${passwordDigest('password_hash')}`

/** Finds a session. With `use`, records now as its last use, at most once a minute. */
export const findOperatorSession = statement(
  'find-operator-session',
  { parameters: { hash: 'text', use: 'bool', ...sessionBounds }, columns: sessionColumns },
  sql`
with found as (
  ${session} where hash = :hash and ${withinBounds}
), used as (
  update operator_session set used_at = now()
  where id in (select session from found) and :use and used_at < now() - interval '1 minute'
)
select * from found`,
)

export const listOperatorSessions = statement(
  'list-operator-sessions',
  { parameters: { operator: 'int', ...sessionBounds }, columns: sessionColumns },
  sql`${session} where operator_id = :operator and ${withinBounds} order by used_at desc, operator_session.id desc`,
)

export const actAs = statement(
  'act-as',
  {
    parameters: { operator: 'int', id: 'bigint', account: 'int', seconds: 'float8' },
    columns: { until: 'bigint' },
  },
  sql`
update operator_session set acts_as = account.id, acts_until = now() + make_interval(secs => :seconds)
from account
where operator_session.id = :id and operator_id = :operator and account.id = :account
returning ${milliseconds('acts_until')} as until`,
)

/** Ends acting as an account, and returns the account. */
export const endActingAs = statement(
  'end-acting-as',
  { parameters: { operator: 'int', id: 'bigint' }, columns: { account: 'int' } },
  sql`
with acting as (
  select id, acts_as from operator_session
  where id = :id and operator_id = :operator and acts_until > now()
  for update
), ended as (
  update operator_session set acts_as = null, acts_until = null where id in (select id from acting)
)
select acts_as as account from acting`,
)

/** Ends one session of an operator, or all if `only` is null. */
export const endOperatorSessions = statement(
  'end-operator-sessions',
  { parameters: { operator: 'int', only: 'bigint?' }, columns: { id: 'bigint' } },
  sql`delete from operator_session where operator_id = :operator and (:only is null or id = :only) returning id`,
)
