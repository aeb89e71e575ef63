import type { LANE } from '../stored-codes.ts'

/** What both claims return: a row for each range that was claimed, or one whose `lo` is null: nothing was. */
export type ClaimRow = {
  /** Where the next walk over the accounts begins; null: nobody waits in the lane. */
  readonly cursor: number | null
  /** When it was claimed, in milliseconds since 1970. */
  readonly at: number
  /** Whether the dispatcher still has its row. */
  readonly alive: boolean
} & (ClaimedRange | { readonly lo: null })

export interface ClaimedRange {
  readonly lo: number
  readonly send: number
  readonly account: number
  readonly attempt: number
  readonly due: number
  /** The number of the address; 0: none known. */
  readonly sender: number
  readonly confirmsOptOut: boolean
  readonly body: string
  readonly parts: number
  /** Of the ids from `lo` on: an array of digits, as Postgres writes it. */
  readonly numbers: string
  readonly locked: boolean
  /** Suppressed positions in `numbers`, from 1, each with a kind; null: none. */
  readonly suppressed: readonly (readonly [position: number, kind: number])[] | null
}

/**
 * The end of a statement that claims. It names its rows of `due` in CTE `candidates` before it deletes them, in CTE `claimed` afterwards.
 * $1 dispatcher, $7 lease in seconds.
 */
export const renewLease = `renewed as (
  update dispatcher
  set lease_until = now() + make_interval(secs => $7::float8)
  where id = $1::bigint and exists (select from candidates)
  returning id
)`

/** Stores what was claimed from queue $9 as batch $2 of dispatcher $1 for carrier $8, the first $6 messages marked, and returns the ranges. */
export const storeBatch = (lane: (typeof LANE)[keyof typeof LANE], cursor: string) => `batch as (
  insert into claimed_batch (dispatcher, seq, carrier, lane, queue, marked, ids, send_first_ids, attempts)
  select $1::bigint, $2::int, $8::smallint, ${lane}, $9::smallint, least($6::int, count(*)), array_agg(id),
    case when max(first_id) > min(first_id) then array_agg(first_id) else array[min(first_id)] end,
    case when max(attempt) > 0 then array_agg(attempt) end
  from (
    select id, first_id, attempt
    from claimed, generate_series(claimed.lo, claimed.hi - 1) id
    order by id
  ) message
  having count(*) > 0
)
select ${cursor} as cursor, now() as at, exists (select from dispatcher where id = $1::bigint) as alive, ranges.*
from (select 1) one
left join (
  select claimed.lo, claimed.first_id as send, claimed.account_id as account, claimed.attempt, claimed.due_at as due,
    send.sender, send.confirms_opt_out as "confirmsOptOut", send.body, send.parts, send.numbers::text, account.locked,
    case
      when (select exists (select from suppression where account_id = 0))
        or exists (select from suppression where account_id = claimed.account_id)
      then (
        select array_agg(array[position::int, kind::int])
        from unnest(send.numbers) with ordinality recipient(msisdn, position)
        cross join lateral (
          select kind
          from suppression
          where account_id in (0, claimed.account_id) and msisdn = recipient.msisdn offset 0
        ) suppressed
      )
    end as suppressed
  from claimed
  cross join lateral (
    select sender, confirms_opt_out, body, parts, msisdns[claimed.lo - first_id + 1:claimed.hi - first_id] numbers
    from send
    where first_id = claimed.first_id offset 0
  ) send
  cross join lateral (select locked from account where id = claimed.account_id offset 0) account
) ranges on true`
