import { LANE } from '../stored-codes.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Every dispatcher with what it holds, by id and name of the carrier: a row for each carrier, or one whose `carrier` is null.
 * Times in milliseconds. For the ordinary connections: it reads the batches from one end to the other.
 */
export const listDispatchers: PreparedStatement<{
  id: number
  since: number | null
  version: string | null
  host: string | null
  pid: number | null
  lease: number
  overdue: boolean
  carrier: string | null
  batches: number
  messages: number
  in_doubt: number
}> = {
  name: 'list-dispatchers',
  text: `
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
select dispatcher.id, floor(extract(epoch from since) * 1000)::bigint since, version, host, pid,
  floor(extract(epoch from lease_until) * 1000)::bigint lease, lease_until < now() overdue,
  loads.carrier, batches, messages, in_doubt
from dispatcher
left join loads on loads.dispatcher = dispatcher.id
order by dispatcher.id, loads.carrier collate "C"`,
}

/**
 * What waits of the next $2 accounts after account $1, by account and lane. At least one row, whose `bound` is the last of these
 * accounts, null if there are none; where nothing waits of them the rest of it is null. Times in milliseconds.
 *
 * For the ordinary connections; it walks the accounts and their waiting ranges by index.
 */
export const listQueue: PreparedStatement<{
  bound: number | null
  account: number | null
  lane: number
  due: number
  oldest: number | null
  scheduled: number
  postponed: number
}> = {
  name: 'list-queue',
  text: `
with page as materialized (
  select max(id) bound from (select id from account where id > $1::int order by id limit $2::int) accounts
), waiting as (
  select account_id, lane, hi - lo due, due_at, 0 scheduled, 0 postponed
  from due
  where queue in (select id from queue) and lane in (${LANE.single}, ${LANE.bulk}) and account_id > $1::int and account_id <= (select bound from page)
  union all
  select account_id, lane, 0, null,
    case when attempt = 0 then hi - lo else 0 end,
    case when attempt > 0 then hi - lo else 0 end
  from later
  where account_id > $1::int and account_id <= (select bound from page)
)
select page.bound, lanes.*
from page
left join (
  select account_id account, lane, sum(due)::bigint due, floor(extract(epoch from min(due_at)) * 1000)::bigint oldest,
    sum(scheduled)::bigint scheduled, sum(postponed)::bigint postponed
  from waiting
  group by account_id, lane
) lanes on true
order by lanes.account, lanes.lane`,
}
