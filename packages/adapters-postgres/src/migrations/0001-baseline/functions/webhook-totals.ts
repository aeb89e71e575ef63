import { WEBHOOK_STATE } from '../../../webhooks/webhook-row.ts'

/** The endpoints that have rows of a table, one step of its index each. */
const walk = (name: string, table: string, which: string): string => `${name} as (
    (select webhook_id from ${table} where ${which} order by webhook_id limit 1)
    union all
    select (select webhook_id from ${table} where ${which} and webhook_id > ${name}.webhook_id order by webhook_id limit 1)
    from ${name} where ${name}.webhook_id is not null
  )`

const firstOf = (walked: string, table: string, which: string, order: string): string => `${walked} walked
    cross join lateral (
      select * from ${table} where webhook_id = walked.webhook_id and ${which} order by ${order} limit p_rows
    ) first
    group by walked.webhook_id`

const condition = `case when state = ${WEBHOOK_STATE.paused} then 'paused' when state = ${WEBHOOK_STATE.disabled} then 'disabled'
      when failing_since is null then 'active' else 'failing' end`

export const webhookTotals = `
-- What waits for all endpoints, by how they are; of each the first p_rows rows of events, of batches, of open lists and of dead ones count.
create function webhook_totals(p_rows int)
  returns table (condition text, endpoints int, events bigint, lists bigint, dead bigint, oldest timestamptz) language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
  with recursive ${walk('waiting', 'webhook_event', 'true')}, ${walk('open', 'webhook_list', 'state = 0')},
  ${walk('under_way', 'webhook_batch', 'open > 0')}, ${walk('given_up', 'webhook_list', 'state = 2')},
  counted as (
    select walked.webhook_id, sum(first.count) events, 0::bigint lists, 0::bigint dead, min(first.at) oldest
    from ${firstOf('waiting', 'webhook_event', 'true', 'id')}
    union all
    select walked.webhook_id, 0, count(*), 0, min(first.from_at)
    from ${firstOf('open', 'webhook_list', 'state = 0', 'due_at')}
    union all
    select walked.webhook_id, 0, sum(first.open), 0, min(first.from_at)
    from ${firstOf('under_way', 'webhook_batch', 'open > 0', 'due_at')}
    union all
    select walked.webhook_id, 0, 0, count(*), null
    from ${firstOf('given_up', 'webhook_list', 'state = 2', 'webhook_id')}
  )
  select condition, sum(endpoints)::int, sum(events)::bigint, sum(lists)::bigint, sum(dead)::bigint, min(oldest)
  from (
    select ${condition} as condition, 1 endpoints, 0::bigint events, 0::bigint lists, 0::bigint dead, null::timestamptz oldest from webhook
    union all
    select (select ${condition} from webhook where id = webhook_id), 0, sum(events), least(p_rows, sum(lists)), sum(dead), min(oldest)
    from counted
    group by webhook_id
  ) of_each
  where condition is not null
  group by condition;
end $$;
`
