import { LEDGER } from '../stored-codes.ts'

/**
 * An update of the accounts that CTE `costs` (account_id, amount) names: each pays the sum, unless it is locked or has less. Returns
 * id and balance of those that paid. In the order of ids, so that two of these never wait for each other in a circle.
 */
export const charge = (costs: string): string => `
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
 * Two CTEs that give back what CTE `refunds` (account_id, send_first_id, code, amount) names: an entry of the ledger for each send and
 * code, and the balances. Who turns a message final without a carrier's acceptance runs it for the rows that it turned: once.
 */
export const refund = (refunds: string, operation = 'null::uuid'): string => `
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
