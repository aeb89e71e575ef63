import type { InboxPart } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

export interface InboxRow {
  readonly id: number
  readonly from: string
  readonly at: number
  readonly text: string
  readonly answers: number | null
  readonly code: string | null
}

const byPart = <Row>(
  make: (part: InboxPart) => PreparedStatement<Row>,
): Readonly<Record<InboxPart, PreparedStatement<Row>>> => ({
  all: make('all'),
  'short-code': make('short-code'),
  replies: make('replies'),
})

/** As the indexes say it. */
const offered: Readonly<Record<InboxPart, string>> = {
  all: '',
  'short-code': 'and to_code',
  replies: 'and not to_code',
}

/**
 * Takes for operation $4 what account $1 was sent since $2 and has not been taken: the oldest first, at most $3; what another call takes
 * at this moment is left to it. Never run again: put-back undoes it.
 */
export const takeInbox = byPart<InboxRow>((part) => ({
  name: `take-${part}`,
  text: `
with t as materialized (
  select ctid as place from inbound_message_offered where account_id = $1::int and at >= $2::timestamptz ${offered[part]}
  order by at, inbound_message_id limit $3::int for update skip locked
), d as (
  delete from inbound_message_offered where ctid = any (array(select place from t)) returning inbound_message_id
), k as (
  insert into inbound_message_taken (operation, account_id, inbound_message_ids) select $4::uuid, $1::int, array_agg(inbound_message_id) from d having count(*) > 0
)
select a.id, a.from_address as "from", a.at, a.text, a.answers, (select address from sender where id = a.short_code) as code
from d cross join lateral (select * from inbound_message where id = d.inbound_message_id offset 0) a order by a.at, a.id`,
}))

/** What operation $2 has taken of account $1 is offered again. May be run again. */
export const putBack: PreparedStatement<object> = {
  name: 'put-back',
  text: `
with k as (
  delete from inbound_message_taken where operation = $2::uuid and account_id = $1::int returning inbound_message_ids
)
insert into inbound_message_offered (account_id, at, inbound_message_id, to_code)
select a.account_id, a.at, a.id, a.short_code is not null from k cross join lateral unnest(k.inbound_message_ids) i(id)
cross join lateral (select * from inbound_message where id = i.id offset 0) a`,
}

const listed: Readonly<Record<InboxPart, string>> = {
  all: '',
  'short-code': 'and short_code is not null',
  replies: 'and short_code is null',
}

/**
 * What account $1 was sent since $2: $4 messages from $3 on, oldest first. Always at least one row, with the total; the rest of it is
 * null where there are no messages. For the ordinary connections.
 */
export const listInbox = byPart<{ total: number; id: number | null } & Omit<InboxRow, 'id'>>((part) => ({
  name: `list-${part}`,
  text: `
with p as (
  select id from inbound_message where account_id = $1::int and at >= $2::timestamptz ${listed[part]} order by at, id offset $3::bigint limit $4::bigint
)
select t.total, m.*
from (select count(*) total from inbound_message where account_id = $1::int and at >= $2::timestamptz ${listed[part]}) t
left join (
  select a.id, a.from_address as "from", a.at, a.text, a.answers, s.address as code
  from p join inbound_message a on a.id = p.id left join sender s on s.id = a.short_code
) m on true order by m.at, m.id`,
}))

/** What belongs to nobody, after the one that arrived at $1 (null: from the first on) under the id $2: at most $3. */
export const unownedArrivals: PreparedStatement<{
  id: number
  carrier: string
  from: string
  to: string | null
  at: number
  exactly: string
  text: string
}> = {
  name: 'unowned-arrivals',
  text: `
select a.id, c.name as carrier, from_address as "from", to_address as "to", at, at::text as exactly, text
from inbound_message a join carrier c on c.id = a.carrier
where account_id is null and (at, a.id) > (coalesce($1::timestamptz, '-infinity'), $2::bigint) order by at, a.id limit $3::int`,
}
