import { LANE } from '../stored-codes.ts'
import { milliseconds } from './arrays.ts'
import type { DispatcherId } from '@gateway/core/dispatch'
import { INCIDENT, OUTCOME } from '@gateway/core/messages'
import { accountId, carrierId, instant } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

/**
 * Lists dispatchers with the load of each carrier, by id and carrier name. A dispatcher without batches has one row
 * whose `carrier` is null. Times are in milliseconds. Runs on the ordinary connections: it reads all batches.
 */
export const listDispatchers = statement(
  'list-dispatchers',
  {
    parameters: {},
    columns: {
      id: column<DispatcherId>('bigint'),
      since: nullable(instant),
      version: 'text?',
      host: 'text?',
      pid: 'int?',
      lease: instant,
      overdue: 'bool',
    },
    joined: { carrier: carrierId, batches: 'int', messages: 'int', in_doubt: 'int' },
  },
  sql`
with holding as (
  select dispatcher, seq, carrier, count(*) messages, count(*) filter (where position <= marked) in_doubt
  from claimed_batch
  cross join lateral unnest(ids) with ordinality claimed(id, position)
  where id is not null and not exists (select from message where message.id = claimed.id)
  group by dispatcher, seq, carrier
), loads as (
  select dispatcher, name carrier, count(*)::int batches, sum(messages)::int messages, sum(in_doubt)::int in_doubt
  from holding
  join carrier on carrier.id = holding.carrier
  group by dispatcher, name
)
select dispatcher.id, ${milliseconds('since')} since, version, host, pid,
  ${milliseconds('lease_until')} lease, lease_until < now() overdue,
  loads.carrier, batches, messages, in_doubt
from dispatcher
left join loads on loads.dispatcher = dispatcher.id
order by dispatcher.id, loads.carrier collate "C"`,
)

/**
 * Counts due messages by the name of their route, null for none. Times are in milliseconds. For the ordinary
 * connections: it reads all of `due`.
 */
export const listWaitingRoutes = statement(
  'list-waiting-routes',
  {
    parameters: {},
    columns: {
      route: 'text?',
      due: 'bigint',
      single: 'bigint',
      oldest: instant,
      oldestSingle: nullable(instant),
      oldestBulk: nullable(instant),
    },
  },
  sql`
select route.name route, sum(hi - lo)::bigint due,
  coalesce(sum(hi - lo) filter (where due.lane = ${LANE.single}), 0)::bigint single, ${milliseconds('min(due_at)')} oldest,
  ${milliseconds(`min(due_at) filter (where due.lane = ${LANE.single})`)} "oldestSingle",
  ${milliseconds(`min(due_at) filter (where due.lane = ${LANE.bulk})`)} "oldestBulk"
from due
join queue on queue.id = due.queue
left join route on route.id = queue.route
group by route.name
order by route.name collate "C" nulls first`,
)

/**
 * Counts waiting messages of the next `accountsMax` accounts after `after`, by account and lane. `bound` is the last of
 * these accounts, null if there are none. If nothing waits, there is one row whose other columns are null. Times are in
 * milliseconds.
 *
 * Runs on the ordinary connections; it walks the accounts and their waiting ranges by index.
 */
export const listQueue = statement(
  'list-queue',
  {
    parameters: { after: 'int', accountsMax: 'int' },
    columns: { bound: 'int?' },
    joined: {
      account: accountId,
      lane: 'smallint',
      due: 'bigint',
      oldest: nullable(instant),
      scheduled: 'bigint',
      postponed: 'bigint',
    },
  },
  sql`
with page as materialized (
  select max(id) bound from (select id from account where id > :after order by id limit :accountsMax) accounts
), waiting as (
  select account_id, lane, hi - lo due, due_at, 0 scheduled, 0 postponed
  from due
  where queue in (select id from queue) and lane in (${LANE.single}, ${LANE.bulk}) 
    and account_id > :after and account_id <= (select bound from page)
  union all
  select account_id, lane, 0, null,
    case when attempt = 0 then hi - lo else 0 end,
    case when attempt > 0 then hi - lo else 0 end
  from later
  where account_id > :after and account_id <= (select bound from page)
)
select page.bound, lanes.*
from page
left join (
  select account_id account, lane, sum(due)::bigint due, ${milliseconds('min(due_at)')} oldest,
    sum(scheduled)::bigint scheduled, sum(postponed)::bigint postponed
  from waiting
  group by account_id, lane
) lanes on true
order by lanes.account, lanes.lane`,
)

/**
 * Counts the messages whose outcome became unknown, by carrier. Reads their incidents by the index `incident_unknown`.
 * Runs on the ordinary connections.
 */
export const countUnknownOutcomes = statement(
  'count-unknown-outcomes',
  {
    parameters: { seconds: 'float8' },
    columns: { carrier: carrierId, resolved: 'int', unresolved: 'int' },
  },
  sql`
with doubtful as materialized (
  select distinct message_id
  from incident
  where what in ('${INCIDENT.recovered}', '${INCIDENT.unknown}') and at > now() - make_interval(secs => :seconds)
)
select carrier.name carrier, count(*) filter (where not is_open)::int resolved,
  count(*) filter (where is_open)::int unresolved
from doubtful
cross join lateral (
  select carrier, code = ${OUTCOME.unknown} and carrier_id is null is_open
  from message
  where id = any (array[doubtful.message_id]) offset 0
) message
join carrier on carrier.id = message.carrier
where carrier.name <> ''
group by carrier.name
order by carrier.name collate "C"`,
)
