import { balanceMax, type TransferFailure } from '@gateway/core/credits'
import { OUTCOME } from '@gateway/core/messages'
import { LEDGER } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { rows, sql, statement } from './statement.ts'

/**
 * An update of the accounts that CTE `costs` (account_id, amount) names: each pays the sum, unless it is locked or
 * has less. Returns id and balance of those that paid. In the order of ids, so that two of these never wait for each
 * other in a circle.
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
 * Two CTEs that give back what CTE `refunds` (account_id, send_first_id, code, amount) names: an entry of the ledger
 * for each send and code, and the balances. Who turns a message final without a carrier's acceptance runs it for the
 * rows that it turned: once.
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
 * Gives the charge of a message back for the reason `why`, if a carrier took it, or may have, and it was not given
 * back before. One row; `amount` null: nothing was done, and the rest says why. Whoever asks next, or learns late
 * that no carrier took it, finds the row of the message changed.
 */
export const refundMessage = statement(
  'refund-message',
  {
    parameters: { message: 'bigint', why: 'text', at: 'timestamptz', operation: 'uuid' },
    columns: { account: 'int?', amount: 'int?', balance: 'bigint?', price: 'int?', decided: 'bool' },
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
 * A row if the operation has an entry in the account. Only the latest ten million entries of all accounts are looked
 * through.
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
 * What the operation gave back for the message, with the balance that there is now. Only the latest ten million
 * entries are looked through.
 */
export const findRefund = statement(
  'find-refund',
  {
    parameters: { message: 'bigint', operation: 'uuid' },
    columns: { account: 'int', amount: 'bigint', balance: 'bigint' },
  },
  sql`
select ledger.account_id account, ledger.amount, account.balance
from ledger
join account on account.id = ledger.account_id
where message_id = :message and operation = :operation and ledger.id > (select max(id) - 10000000 from ledger)`,
)

/**
 * Calls `transfer_credits`. `asker`, `key` and `digest` are those of a request with a key, else null.
 */
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
    columns: rows<{ result: 'done' | TransferFailure | 'repeated' | null }>({ result: 'text' }),
  },
  sql`select transfer_credits(:from, :to, :amount, :at, :operation, :asker, :key, :digest) as result`,
)

/**
 * Every balance beside what its entries add up to, all as of one moment. Always at least one row; `id` null: no
 * difference. The sends are debits as much as the rows of the ledger. For the ordinary connections: it reads both
 * tables once.
 */
export const checkLedger = statement(
  'check-ledger',
  {
    parameters: {},
    columns: { accounts: 'bigint', balances: 'bigint', id: 'int?', balance: 'bigint', entries: 'bigint' },
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
 * Tops the account up and returns the new balance. No row: no such account, or out of range (`balanceAfter`). The index
 * `ledger_top_up` lets one entry of an operation in.
 */
export const enterCredits = statement(
  'enter-credits',
  {
    parameters: { account: 'int', amount: 'bigint', why: 'text', at: 'timestamptz', operation: 'uuid?' },
    columns: { balance: 'bigint' },
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

/** Times in milliseconds. Kind: as `LEDGER`. */
export interface MovementRow {
  readonly account: number
  readonly at: number
  readonly kind: number
  readonly amount: number
  readonly balance: number
  readonly first: number | null
  readonly messages: number | null
  readonly code: number | null
  readonly other: number | null
  readonly why: string | null
  readonly message: number | null
  readonly reference: string | null
}

/**
 * The movements of the account, or of all if it is null, from `from` (or null) to before `to` (or null), by time;
 * sums of dropped sends count as of `historyDays` before they were entered. The balance after each is counted back
 * from the balance that there is, so that of what was before `from` nothing is read.
 *
 * Sends have no index by account or time. Where there is a `from`, only those are read whose ids were leased since
 * then: an id is used within two days of the lease of its block (so retention has it). The cursor outlives its
 * transaction: a slow reader holds a connection and no snapshot. For the ordinary connections.
 */
export const declareMovements = statement(
  'declare-movements',
  { parameters: { account: 'int?', from: 'timestamptz?', to: 'timestamptz?', historyDays: 'int' } },
  sql`
declare movements no scroll cursor with hold for
with entries as (
  select account_id, case when kind = ${LEDGER.droppedSends} then at - make_interval(days => :historyDays)
    else at end at,
    amount, kind, send_first_id, code, other_account_id, why, message_id, id
  from ledger
  where :account is null or account_id = :account
), moved as (
  select account_id, at, amount, kind::int, send_first_id "first", null::int messages, code,
    other_account_id other, why,
    message_id message, null client_reference, 0 part, id
  from entries
  where :from is null or at >= :from
  union all
  select account_id, created_at, -n::bigint * price, ${LEDGER.send}, first_id, n, null, null, null, null,
    case when client_references[1] = all (client_references) then client_references[1] end, 1, first_id
  from send
  where (:account is null or account_id = :account) and price > 0
    and (:from is null or created_at >= :from and first_id >= coalesce(
      (select min(block) * 10000 from id_lease where at >= :from - interval '2 days'), 0
    ))
), balanced as (
  select moved.*, (
    account.balance - sum(amount) over (partition by account_id)
      + sum(amount) over (partition by account_id order by at, part, moved.id rows unbounded preceding)
  )::bigint balance
  from moved
  join account on account.id = moved.account_id
)
select account_id account, ${milliseconds('at')} at, kind, amount, balance, "first", messages, code, other, why, message,
  client_reference reference
from balanced
where :to is null or at < :to
order by account_id, balanced.at, part, id`,
)

export const fetchMovements = 'fetch 500 from movements'

export const closeMovements = 'close movements'
