import { sql } from '../sql/statement.ts'

/** Days since 1970 in gateway time. */
const gatewayDay = sql`
create or replace function gateway_day(at timestamptz) returns int language sql immutable parallel safe as $$
  select (at at time zone 'UTC' + interval '2 hours')::date - date '1970-01-01'
$$;
`

/**
 * Trigger that writes each change of outcomes to `outcome_change`. It is a statement trigger, because `returning` does
 * not show the rows before the change. It is not run for inserts into a partition by name. Only a copy of the database
 * makes such inserts, and it copies the sums too.
 */
const countOutcomes = sql`
create or replace function count_outcomes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into outcome_change (account_id, day, carrier, code, change)
    select account_id, gateway_day(sent_at), carrier, code, count(*)
    from after
    where not confirms_opt_out
    group by 1, 2, 3, 4;
  else
    insert into outcome_change (account_id, day, carrier, code, change)
    select account_id, day, carrier, code, sum(change)
    from (
      select account_id, gateway_day(sent_at) as day, carrier, code, 1 as change from after where not confirms_opt_out
      union all
      select account_id, gateway_day(sent_at), carrier, code, -1 from before where not confirms_opt_out
    ) changes
    group by account_id, day, carrier, code
    having sum(change) <> 0;
  end if;
  return null;
end $$;
`

export const outcomeFunctions = [gatewayDay, countOutcomes]
