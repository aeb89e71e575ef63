import { charge } from './credits.ts'
import { wakeIdle } from './idle-dispatchers.ts'
import { noteScheduled } from './scheduled.ts'
import { sql, statement } from './statement.ts'

/** Sends, an element of each array a send. */
const sends = {
  accounts: 'int[]',
  firstIds: 'bigint[]',
  counts: 'int[]',
  prices: 'int[]',
  parts: 'smallint[]',
  texts: 'text[]',
  /** Of each send an array as text. */
  numbers: 'text[]',
  /** `sender.id` of the addresses that they leave from. */
  senders: 'int[]',
  lanes: 'smallint[]',
  routes: 'smallint[]',
  /** Of each send an array as text; empty: no send has any. */
  references: 'text?[]',
  /** Of each send, in minutes; empty: no send has a validity of its own. */
  validities: 'int?[]',
  /** Of each send; empty: 0. */
  priorities: 'smallint[]',
  /** Of each send; empty: no send is one. */
  flashes: 'bool[]',
} as const

/** Of each send when it is due; null or past: at once. */
const scheduling = { due: 'timestamptz?[]' } as const

/**
 * The answers to orders with a key; `costsLater`: what later orders of the account cost, that are stored with them.
 */
const keeping = {
  keyAccounts: 'int[]',
  keys: 'uuid[]',
  digests: 'uuid[]',
  costsLater: 'bigint[]',
  answers: 'text[]',
} as const

const columns = { id: 'int', balance: 'bigint' } as const

/** Of a statement with due times: what is not due at once goes to `later`. */
const later = sql`, due_later as (
  insert into later (queue, lane, account_id, rank, lo, hi, first_id, due_at, expires_at, at)
  select route, lane, account_id, -priority, first_id, first_id + n, first_id, scheduled_at, expires_at, scheduled_at
  from accepted
  where scheduled_at is not null
  returning account_id, due_at, lo, hi
), ${noteScheduled('select account_id, due_at, lo, hi - lo change from due_later')}`

/** Of a statement with keys: under the locks of the accounts, those of which one key is in use are left out. */
const fresh = sql`, locked as (
  select id from account where id = any (:keyAccounts) order by id for no key update
), used as (
  select keys_in_use((select count(*) from locked), :keyAccounts, :keys) account_ids
), fresh as (
  select account_id, amount from requested where account_id <> all ((select account_ids from used)::int[])
)`

/** The answers of the accounts that paid, with the balance that each had right after its order. */
const kept = sql`, kept as (
  insert into client_request (account_id, key, digest, balance, answer)
  select account_id, key, digest, balances[array_position(account_ids, account_id)] + later, answer
  from unnest(:keyAccounts, :keys, :digests, :costsLater, :answers)
    request(account_id, key, digest, later, answer)
  cross join paying
  where account_id = any (account_ids)
)`

const acceptText = (isScheduled: boolean, isKeyed: boolean): string => sql`
with requested as (
  select account_id, first_id, n, price, parts, body, numbers, sender, lane, route, client_references,
    n::bigint * price amount, coalesce(priority, 0::smallint) priority, coalesce(flash, false) flash,
    ${isScheduled ? 'case when due_at > now() then due_at end' : 'null::timestamptz'} scheduled_at,
    ${isScheduled ? 'greatest(due_at, now())' : 'now()'} + make_interval(mins => validity) expires_at
  from unnest(
      :accounts, :firstIds, :counts, :prices, :parts, :texts, :numbers, :senders, :lanes,
      :routes, :references, :validities, :priorities, :flashes${isScheduled ? ', :due' : ''}
    )
    request(account_id, first_id, n, price, parts, body, numbers, sender, lane, route,
      client_references, validity, priority, flash${isScheduled ? ', due_at' : ''})
)${isKeyed ? fresh : ''}, charged as (${charge(isKeyed ? 'fresh' : 'requested')}
), paying as (
  select array_agg(id) account_ids${isKeyed ? ', array_agg(balance) balances' : ''} from charged
), accepted as (
  select * from requested where account_id = any ((select account_ids from paying)::int[])
), sends as (
  insert into send
    (first_id, n, account_id, sender, price, parts, route, priority, flash, body, msisdns, client_references,
    scheduled_at, expires_at)
  select first_id, n, account_id, sender, price, parts, route, priority, flash, body, numbers::bigint[], client_references::text[],
    scheduled_at, expires_at
  from accepted
), due_now as (
  insert into due (queue, lane, account_id, rank, lo, hi, first_id, expires_at)
  select route, lane, account_id, -priority, first_id, first_id + n, first_id, expires_at
  from accepted
  where scheduled_at is null
)${isScheduled ? later : ''}${isKeyed ? kept : ''}
select id, balance, ${wakeIdle} as woken from charged`

/**
 * Charges and stores sends that are due at once. Returns the accounts that paid, with their balance after all of it.
 * All sends of an account are paid, or none: an account that is locked or cannot pay for all is not returned and
 * nothing of it is stored. Where the answer is lost it is never run again.
 *
 * Cost: 0.3 µs and 9 bytes of log a message (1000 numbers a send); 8 µs and 540 bytes (singles, 500 a statement).
 */
export const accept = statement('accept', { parameters: sends, columns }, acceptText(false, false))

/**
 * The same where some are scheduled. By itself, because it opens three tables more: 263 µs of PostgreSQL instead of
 * 146 for five sends that are due at once.
 */
export const acceptScheduled = statement(
  'accept-scheduled',
  { parameters: { ...sends, ...scheduling }, columns },
  acceptText(true, false),
)

/**
 * The same for orders with a key, and keeps their answers with the balances. An account of which one key is in use
 * neither pays nor keeps anything.
 */
export const acceptKeyed = statement(
  'accept-keyed',
  { parameters: { ...sends, ...keeping }, columns },
  acceptText(false, true),
)

/** Both. */
export const acceptKeyedScheduled = statement(
  'accept-keyed-scheduled',
  { parameters: { ...sends, ...scheduling, ...keeping }, columns },
  acceptText(true, true),
)

/** Which of the sends there are. */
export const findSends = statement(
  'find-sends',
  { parameters: { ids: 'bigint[]' }, columns: { first_id: 'bigint' } },
  sql`select first_id from send where first_id = any (:ids)`,
)
