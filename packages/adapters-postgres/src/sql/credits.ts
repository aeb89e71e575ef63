import type { AccountId } from '@gateway/core/accounts'
import { balanceMax, type Credits, type TransferFailure } from '@gateway/core/credits'
import { OUTCOME, type MessageId, type MessageReference, type SendLabels } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { LEDGER } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { accountId, credits, messagePrice } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

/**
 * SQL that charges each account in the CTE `costs` (account_id, amount) the sum of its amounts, unless the account is
 * locked or has less. Returns id and balance of the accounts that paid. Locks accounts in the order of ids, so that two
 * charges cannot deadlock.
 */
export const charge = (costs: string): string => sql`
  update account set balance = balance - cost.amount
  from (
    select account_id, sum(amount)::bigint amount
    from ${costs}
    group by account_id
    order by account_id
  ) cost
  where account.id = any (array[cost.account_id]) and not locked and balance >= cost.amount
  returning id, balance`

/**
 * Two CTEs that refund the rows of the CTE `refunds` (account_id, send_first_id, code, amount): they write a ledger
 * entry for each send and code, and update the balances. A statement that makes messages final without a carrier's
 * acceptance includes them for exactly the rows that it changed, so that each message is refunded once.
 */
export const refund = (refunds: string, operation = 'null::uuid'): string => sql`
refund_entries as (
  insert into ledger (account_id, kind, amount, send_first_id, code, operation)
  select account_id, ${LEDGER.refund}, sum(amount), send_first_id, code, ${operation}
  from ${refunds}
  group by account_id, send_first_id, code
), refunded_balances as (
  update account set balance = balance + refund.amount
  from (
    select account_id, sum(amount)::bigint amount
    from ${refunds}
    group by account_id
    order by account_id
  ) refund
  where account.id = any (array[refund.account_id])
)`

/**
 * Refunds a message for the reason `why`, if a carrier accepted it or may have accepted it and it was not refunded
 * before. Returns one row; if `amount` is null, nothing was refunded and the other columns say why. The message is
 * marked as refunded, so that neither another call nor a late refusal by the carrier refunds it again.
 */
export const refundMessage = statement(
  'refund-message',
  {
    parameters: { message: 'bigint', why: 'text', at: 'timestamptz', operation: 'uuid' },
    columns: {
      account: nullable(accountId),
      amount: nullable(messagePrice),
      balance: nullable(credits),
      price: nullable(messagePrice),
      decided: 'bool',
    },
  },
  sql`
with send_of as materialized (
  select first_id, account_id, price
  from (
    select first_id, n, account_id, price
    from send
    where first_id <= :message and first_id >= :message / 10000 * 10000
    order by first_id desc
    limit 1
  ) latest
  where :message < first_id + n
), refunded as (
  update message set refunded = true
  where id = :message and not refunded and (carrier_id is not null or code = ${OUTCOME.unknown})
    and code <> ${OUTCOME.optedOut}
    and (select price from send_of) > 0
  returning account_id, send_first_id
), paid as (
  update account set balance = balance + send_of.price
  from refunded
  cross join send_of
  where account.id = refunded.account_id
  returning account.id, account.balance
), entry as (
  insert into ledger (account_id, kind, amount, send_first_id, at, why, message_id, operation)
  select account_id, ${LEDGER.refund}, (select price from send_of), send_first_id, :at, :why, :message, :operation
  from refunded
)
select (select account_id from send_of) account, (select price from send_of where exists (select from refunded)) amount,
  (select balance from paid) balance, (select price from send_of) price,
  exists (select from message where id = :message) decided`,
)

/**
 * Returns a row if the operation has a ledger entry in the account. Searches only the latest ten million entries of all
 * accounts.
 */
export const findOperation = statement(
  'find-operation',
  { parameters: { account: 'int', operation: 'uuid' }, columns: { id: 'bigint' } },
  sql`
select id
from ledger
where account_id = :account and operation = :operation and id > (select max(id) - 10000000 from ledger)
order by id desc
limit 1`,
)

/**
 * Returns the amount that the operation refunded for the message, with the current balance. Searches the latest ten
 * million entries.
 */
export const findRefund = statement(
  'find-refund',
  {
    parameters: { message: 'bigint', operation: 'uuid' },
    columns: { account: accountId, amount: credits, balance: credits },
  },
  sql`
select ledger.account_id account, ledger.amount, account.balance
from ledger
join account on account.id = ledger.account_id
where message_id = :message and operation = :operation and ledger.id > (select max(id) - 10000000 from ledger)`,
)

/** Calls `transfer_credits`. `asker`, `key` and `digest` belong to a request with an idempotency key, else are null. */
export const transfer = statement(
  'transfer',
  {
    parameters: {
      from: 'int',
      to: 'int',
      amount: 'bigint',
      at: 'timestamptz',
      operation: 'uuid',
      asker: 'int?',
      key: 'uuid?',
      digest: 'uuid?',
    },
    columns: { result: nullable(column<'done' | TransferFailure | 'repeated'>('text')) },
  },
  sql`select transfer_credits(:from, :to, :amount, :at, :operation, :asker, :key, :digest) as result`,
)

/**
 * Compares every balance with the sum of its entries, in one snapshot. Sends are debits just as rows of the ledger are.
 * Returns a row for each difference, or one row with a null `id` if there is none. Runs on the ordinary connections: it
 * reads both tables whole.
 */
export const checkLedger = statement(
  'check-ledger',
  {
    parameters: {},
    columns: { accounts: 'bigint', balances: credits },
    joined: { id: accountId, balance: credits, entries: credits },
  },
  sql`
with ledger_sums as (
  select account_id, sum(amount) total
  from ledger
  group by account_id
), send_sums as (
  select account_id, sum(n::bigint * price) total
  from send
  group by account_id
), checked as materialized (
  select account.id, account.balance, (coalesce(ledger_sums.total, 0) - coalesce(send_sums.total, 0))::bigint entries
  from account
  left join ledger_sums on ledger_sums.account_id = account.id
  left join send_sums on send_sums.account_id = account.id
), totals as (
  select count(*) accounts, coalesce(sum(balance), 0)::bigint balances
  from checked
)
select totals.accounts, totals.balances, checked.id, checked.balance, checked.entries
from totals
left join checked on checked.balance <> checked.entries
order by checked.id`,
)

/**
 * Adds `amount` to the balance and returns the new balance. Returns no row if the account does not exist or the balance
 * would be out of range (core's `balanceAfter`). The unique index `ledger_top_up` admits one entry for each operation.
 */
export const enterCredits = statement(
  'enter-credits',
  {
    parameters: { account: 'int', amount: 'bigint', why: 'text', at: 'timestamptz', operation: 'uuid?' },
    columns: { balance: credits },
  },
  sql`
with topped_up as (
  update account set balance = balance + :amount
  where id = :account and balance + :amount::numeric between 0 and ${balanceMax}
  returning id, balance
), entry as (
  insert into ledger (account_id, kind, amount, at, why, operation)
  select id, ${LEDGER.topUp}, :amount, :at, :why, :operation
  from topped_up
)
select balance from topped_up`,
)

/**
 * Returns the moment at which a list of movements begins (microseconds, as text) and the highest entry at that moment.
 */
export const beginMovements = statement(
  'begin-movements',
  { parameters: {}, columns: { time: 'text', entry: 'bigint' } },
  sql`select now()::text "time", coalesce((select max(id) from ledger), 0) entry`,
)

/**
 * Query for the balance of an account before its movements from `from` on (null: before its first one). The balance is
 * calculated back from the present balance, so that earlier movements are not read. Returns no row if there is no such
 * account.
 */
export const balanceSince = sql`
select (balance - coalesce((
    select sum(amount)
    from ledger
    where account_id = account.id and ${timeOfEntry()} >= coalesce(:from, '-infinity')
  ), 0) + coalesce((
    select sum(n::bigint * price)
    from send
    where account_id = account.id and created_at >= coalesce(:from, '-infinity')
  ), 0))::bigint balance
from account
where id = :account`

export const balanceBeforeMovements = statement(
  'balance-before-movements',
  { parameters: { account: 'int', from: 'timestamptz?', historyDays: 'int' }, columns: { balance: 'bigint' } },
  balanceSince,
)

/**
 * Returns SQL for the time of an entry. An entry that sums dropped sends counts as `historyDays` older than it is,
 * because its sends are older.
 */
export function timeOfEntry(): string {
  return sql`case when kind = ${LEDGER.droppedSends} then at - make_interval(days => :historyDays) else at end`
}

/**
 * Movement of credits. `at` is in milliseconds since 1970, `time` the same as text with microseconds, `kind` a code of
 * `LEDGER`. Movements of one time are ordered by `part`, then by `id`.
 */
export interface MovementRow {
  readonly at: Instant
  readonly time: string
  readonly part: number
  readonly id: number
  readonly kind: number
  readonly amount: Credits
  readonly first: MessageId | null
  readonly messages: number | null
  readonly code: number | null
  readonly other: AccountId | null
  readonly why: string | null
  readonly message: MessageId | null
  readonly reference: MessageReference | null
  readonly labels: SendLabels | null
}

/**
 * Returns the next movements of an account by time, before `to` (null: no bound). The next movements are those after
 * `time` and, at `time` itself, the entries after `entryId` and the sends after `sendId`. `until` and `entry` are the
 * moment that `beginMovements` returned. Sends without a charge are not listed. Returns one row. `changed` is true if
 * history from `from` on was dropped since that moment. In that case movements are missing, and no row contains their
 * sum.
 */
export const listMovements = statement(
  'list-movements',
  {
    parameters: {
      account: 'int',
      from: 'timestamptz?',
      to: 'timestamptz?',
      historyDays: 'int',
      until: 'text',
      entry: 'bigint',
      time: 'text',
      entryId: 'bigint',
      sendId: 'bigint',
      countMax: 'int',
    },
    columns: { changed: 'bool', rows: column<readonly MovementRow[]>('json') },
  },
  sql`
with entries as (
  select at, kind::int, amount, send_first_id "first", null::int messages, code::int, other_account_id other, why,
    message_id message, null::text reference, null::jsonb labels, 0 part, id
  from ledger
  where account_id = :account and id <= :entry and kind <> ${LEDGER.droppedSends}
    and at < coalesce(:to, 'infinity') and (at, id) > ((:time)::timestamptz, :entryId)
  order by ledger.at, id
  limit :countMax
), sums_of_dropped as (
  select at - make_interval(days => :historyDays) as at, kind::int, amount, null::bigint, null::int, null::int, null::int,
    why, null::bigint, null::text, null::jsonb, 0 part, id
  from ledger
  where account_id = :account and id <= :entry and kind = ${LEDGER.droppedSends}
), dropped as (
  select *
  from sums_of_dropped
  where at < coalesce(:to, 'infinity') and (at, id) > ((:time)::timestamptz, :entryId)
), sends as (
  select created_at at, ${LEDGER.send} kind, -n::bigint * price amount, first_id "first", n messages, null::int code,
    null::int other, null::text why, null::bigint message,
    case when client_references[1] = all (client_references) then client_references[1] end reference,
    options labels,
    1 part, first_id id
  from send
  where account_id = :account and price > 0
    and created_at <= (:until)::timestamptz and created_at < coalesce(:to, 'infinity')
    and (created_at, first_id) > ((:time)::timestamptz, :sendId)
  order by created_at, first_id
  limit :countMax
), page as (
  select ${milliseconds('at')} at, at::text "time", part, id, kind, amount, "first", messages, code, other, why,
    message, reference, labels
  from (select * from entries union all select * from dropped union all select * from sends) every_kind
  order by every_kind.at, part, id
  limit :countMax
)
select
  exists (
    select from ledger
    where account_id = :account and id > :entry and kind = ${LEDGER.droppedSends}
      and ${timeOfEntry()} >= coalesce(:from, '-infinity')
  ) changed,
  (select coalesce(json_agg(page), '[]') from page) rows`,
)
