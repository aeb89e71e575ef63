import type { InboxPart } from '@gateway/core'
import type { HotStatement } from './hot-statement.ts'

export interface InboxRow {
  readonly id: number
  readonly from: string
  readonly at: number
  readonly text: string
  readonly answers: number | null
  readonly code: string | null
}

/** As the indexes say it, so that each part has the one that was made for it. */
const conditions: Readonly<Record<InboxPart, string>> = {
  all: '',
  'short-code': 'and short_code is not null',
  replies: 'and short_code is null',
}

const byPart = <Row>(make: (part: InboxPart, condition: string) => HotStatement<Row>) => ({
  all: make('all', conditions.all),
  'short-code': make('short-code', conditions['short-code']),
  replies: make('replies', conditions.replies),
})

/**
 * Takes for operation $4 what account $1 was sent since $2 and has not been taken: the oldest first, at most $3; what another call takes
 * at this moment is left to it. Never run again: put-back undoes it.
 *
 * Cost: 60 µs where there is nothing; 13 µs a message (10,000).
 */
export const takeInbox = byPart<InboxRow>((part, condition) => ({
  name: `take-${part}`,
  text: `
with t as materialized (
  select id from arrival where account_id = $1::int and at >= $2::timestamptz and taking is null ${condition}
  order by at, id limit $3::int for update skip locked
), u as (
  update arrival a set taking = $4::uuid from t where a.id = t.id
  returning a.id, a.from_address, a.at, a.text, a.answers, a.short_code
)
select u.id, from_address as "from", at, text, answers, s.address as code
from u left join sender s on s.id = u.short_code order by at, u.id`,
}))

/** What operation $2 has taken of account $1, all of it received from $3 to $4, is offered again. May be run again. */
export const putBack: HotStatement<object> = {
  name: 'put-back',
  text: `
update arrival set taking = null
where account_id = $1::int and at >= $3::timestamptz and at <= $4::timestamptz and taking = $2::uuid`,
}

/**
 * What account $1 was sent since $2: $4 messages from $3 on, oldest first. Always at least one row, with the total; the rest of it is
 * null where there are no messages. For the ordinary connections.
 */
export const listInbox = byPart<{ total: number; id: number | null } & Omit<InboxRow, 'id'>>((part, condition) => ({
  name: `list-${part}`,
  text: `
with p as (
  select id from arrival where account_id = $1::int and at >= $2::timestamptz ${condition} order by at, id offset $3::bigint limit $4::bigint
)
select t.total, m.*
from (select count(*) total from arrival where account_id = $1::int and at >= $2::timestamptz ${condition}) t
left join (
  select a.id, a.from_address as "from", a.at, a.text, a.answers, s.address as code
  from p join arrival a on a.id = p.id left join sender s on s.id = a.short_code
) m on true order by m.at, m.id`,
}))

/** What belongs to nobody, after the one that arrived at $1 (null: from the first on) under the id $2: at most $3. */
export const unownedArrivals: HotStatement<{
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
from arrival a join carrier c on c.id = a.carrier
where account_id is null and (at, a.id) > (coalesce($1::timestamptz, '-infinity'), $2::bigint) order by at, a.id limit $3::int`,
}
