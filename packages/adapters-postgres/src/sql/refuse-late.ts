import type { HotStatement } from './hot-statement.ts'

/**
 * What a fenced dispatcher learns of messages that it had submitted: the carrier did not take them. $1 ids. Only a 106 that
 * nobody has adopted changes to 111, so that it is refunded once; may be run again. (`carrier_id` stands in an expression:
 * otherwise the planner may look for all that have none.) Cost: 11 µs, 100 bytes of log a message.
 */
export const refuseLate: HotStatement<{ id: number }> = {
  name: 'refuse-late',
  text: `
with u as (
  update message m set code = 111, code_at = now() from unnest($1::bigint[]) c(id)
  where m.id = any (array[c.id]) and m.code = 106 and (m.carrier_id || '') is null returning m.id, m.send_first_id, m.account_id
), v as (
  select u.*, s.price from u cross join lateral (select price from send where first_id = u.send_first_id offset 0) s
), l as (
  insert into ledger (account_id, kind, amount, send_first_id, why)
  select account_id, 3, sum(price), send_first_id, 'code 111' from v group by account_id, send_first_id
), a as (
  update account set balance = balance + t.amount from (select account_id, sum(price) amount from v group by 1 order by 1) t where account.id = any (array[t.account_id])
), i as (
  insert into incident (message_id, what) select id, 'late' from u
)
select id from v`,
}
