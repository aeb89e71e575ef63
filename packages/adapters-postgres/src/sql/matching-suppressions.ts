import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Of each pair of account $1 and number $2: its place in the arrays, from 1, and a kind that holds for it, once for each kind. Where neither these accounts
 * nor everybody have suppressed numbers, none is looked up: 0.07 µs a pair instead of 1.
 */
export const matchingSuppressions: PreparedStatement<{ place: number; kind: number }> = {
  name: 'matching-suppressions',
  text: `
select asked.place, holding.kind
from unnest($1::int[], $2::bigint[]) with ordinality asked(account, number, place)
cross join lateral (
  select kind
  from suppression
  where account_id in (asked.account, 0) and msisdn = asked.number offset 0
) holding
where (
  select exists (select from suppression where account_id = 0)
    or exists (select from suppression where account_id = any ($1::int[]))
)`,
}
