import type { WebhookId } from '@gateway/core/webhooks'
import { WEBHOOK_STATE } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import { column, sql, statement, type RowOf } from './statement.ts'

/**
 * CTE of the endpoints after `after` that have rows matching the condition. Finds each endpoint with one index step.
 * PostgreSQL evaluates the CTE only as far as its rows are read.
 */
const walk = (name: string, table: string, condition = 'true'): string => `${name} (webhook_id) as (
  (select webhook_id from ${table} where webhook_id > :after and ${condition} order by webhook_id limit 1)
  union all
  select (
    select webhook_id from ${table} where webhook_id > ${name}.webhook_id and ${condition} order by webhook_id limit 1
  )
  from ${name} where webhook_id is not null
)`

const hasRoom = 'webhook_id <> all (:full)'
const isActive = (id: string): string => `(select state from webhook where id = ${id}) = ${WEBHOOK_STATE.active}`

/** Maximum number of event rows that a claim reads for one endpoint. */
const rowsMax = 1000

/**
 * Claims lists of at most `endpointsMax` endpoints after `after`: at most `listsMax` lists in all, with an equal share
 * for each endpoint. One endpoint gets at most `perEndpointMax` lists. The endpoints in `full` get none, and each
 * endpoint in `limited` gets at most its element of `rooms`. Lists that are due again come first. New lists follow,
 * which this statement cuts from waiting events in their order. Events for which there is no room keep waiting. The
 * result has at least one row, and every row has the endpoint to continue after (0: from the start).
 *
 * The fields that the events of a row share are converted to JSON once, and each list appends its ids and numbers. This
 * is done before rows are sorted, because sorting 1000 lists of one event together with their arrays would take 16 MB.
 *
 * An endpoint is locked first, so that two concurrent claims get lists of different endpoints. Must not be run again if
 * its response is lost. The claimed lists are due again when their lease ends.
 */
export const claimLists = statement(
  'claim-lists',
  {
    parameters: {
      after: 'int',
      endpointsMax: 'int',
      listsMax: 'int',
      perEndpointMax: 'int',
      full: 'int[]',
      limited: 'int[]',
      rooms: 'int[]',
      leaseSeconds: 'float8',
    },
    columns: { next: 'int' },
    joined: { webhook_id: column<WebhookId>('int'), id: 'bigint', tries: 'smallint', events: 'json' },
  },
  sql`
with recursive ${walk('waiting', 'webhook_event')}, ${walk('open', 'webhook_list', 'state = 0')},
candidate as materialized (
  select webhook_id
  from (
    (select webhook_id from waiting where ${hasRoom} and ${isActive('webhook_id')} limit :endpointsMax)
    union
    (
      select webhook_id from open
      where ${hasRoom} and ${isActive('webhook_id')} and (
        select true from webhook_list
        where webhook_id = open.webhook_id and state = 0 and due_at <= now()
        order by due_at
        limit 1
      )
      limit :endpointsMax
    )
    union
    (
      select webhook_id from webhook_list
      where webhook_id > :after and state = 0 and is_test and due_at <= now() and ${hasRoom}
      order by webhook_id
      limit :endpointsMax
    )
  ) found
  order by webhook_id
  limit least(:endpointsMax, :listsMax)
), endpoint as materialized (
  select id, state = ${WEBHOOK_STATE.active} as is_active, list_size, with_text, least(
      :listsMax / (select count(*) from candidate),
      coalesce((select room from unnest(:limited, :rooms) asked (id, room) where asked.id = webhook.id), :perEndpointMax)
    )::int as room
  from candidate
  join webhook on webhook.id = any (array[candidate.webhook_id])
  for no key update of webhook skip locked
), due as materialized (
  select endpoint.id as webhook_id, list.id
  from endpoint
  cross join lateral (
    select id
    from webhook_list
    where webhook_id = endpoint.id and state = 0 and due_at <= now() and (is_active or is_test)
    order by due_at
    limit room
    for update skip locked
  ) list
), again as (
  update webhook_list
  set leased = true, tries = tries + 1, due_at = now() + make_interval(secs => :leaseSeconds)
  from due
  where webhook_list.id = any (array[due.id])
  returning webhook_list.webhook_id, webhook_list.id, tries, events
), need as materialized (
  select id as webhook_id, list_size, with_text,
    (room - (select count(*) from due where webhook_id = endpoint.id))::int * list_size as room
  from endpoint
  where is_active
), first as materialized (
  select row_id, before, list_size, with_text, room
  from need
  cross join lateral (
    select row_id, (sum(count) over (order by id) - count)::int as before
    from (
      select ctid as row_id, id, count from webhook_event
      where webhook_id = need.webhook_id
      order by id
      limit least(need.room, ${rowsMax})
    ) oldest
  ) waiting
  where before < room
), placed as (
  delete from webhook_event event
  using first
  where event.ctid = first.row_id
  returning event.*, before, list_size, with_text, least(count, room - before)::int as fits,
    case when send_first_id is null then subjects[1] end as inbound_id
), rest as (
  insert into webhook_event
    (id, webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count, subjects, msisdns, replay)
  overriding system value
  select id, webhook_id, type, sequence, at, code, send_first_id, has_reference, text, count - fits,
    subjects[fits + 1:], msisdns[fits + 1:], replay
  from placed
  where fits < count
), known as materialized (
  select placed.id, webhook_id, placed.at, before, fits, list_size, subjects[1 : fits] as subjects,
    msisdns[1 : fits] as msisdns, sent.client_references, (
      select rtrim(json_strip_nulls(to_json(shared))::text, '}')
      from (
        select type, sequence, ${milliseconds('placed.at')} as at, code, send_first_id as send, price,
          sent.options as labels, has_reference as "hasReference", from_address as "from", short_code as "shortCode", answers,
          case when with_text then coalesce(placed.text, sent.body, arrived.text) end as text,
          case when replay is not null then true end as copy
      ) shared
    ) as shared
  from placed
  left join lateral (
    select price, body, options, case when client_references is not null then array(
        select client_references[subject - first_id + 1] from unnest(subjects) with ordinality of_list (subject, place)
        where place <= fits
        order by place
      ) end as client_references
    from send
    where first_id = send_first_id offset 0
  ) sent on true
  left join lateral (
    select from_address, answers, text, (select address from sender where id = inbound_message.short_code) as short_code
    from inbound_message
    where id = inbound_id
    offset 0
  ) arrived on true
), fresh as (
  insert into webhook_list (webhook_id, leased, tries, due_at, from_at, to_at, events)
  select webhook_id, true, 1, now() + make_interval(secs => :leaseSeconds), min(at), max(at),
    ('[' || string_agg(events, ',' order by id) || ']')::json
  from known
  cross join lateral generate_series(before / list_size, (before + fits - 1) / list_size) list
  cross join lateral (
    select greatest(list * list_size - before, 0) + 1 as lo, (list + 1) * list_size - before as hi
  ) piece
  cross join lateral (
    select shared || ',"subjects":[' || array_to_string(subjects[lo : hi], ',') || ']'
      || coalesce(',"numbers":["' || array_to_string(nullif(msisdns[lo : hi], '{null}'), '","') || '"]', '')
      || coalesce(',"references":' || to_json(client_references[lo : hi])::text, '') || '}' as events
    offset 0
  ) told
  group by webhook_id, list
  order by webhook_id, list
  returning webhook_id, id, tries, events
)
select next, claimed.*
from (
  select case when count(*) = least(:endpointsMax, :listsMax) then max(webhook_id) else 0 end as next from candidate
) turn
left join (select * from again union all select * from fresh) claimed on true`,
)

export type ClaimedRow = Exclude<RowOf<typeof claimLists>, { readonly id: null }>
