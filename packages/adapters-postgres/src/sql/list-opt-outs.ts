import { SUPPRESSION } from '../stored-codes.ts'
import { milliseconds } from './milliseconds.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** A piece of the list, its columns in the same order; null: nothing is left. */
export interface OptOutPiece {
  /** Digits, divided by commas. */
  readonly numbers: string | null
  /** Milliseconds, divided by commas. */
  readonly since: string
  /** A JSON array; each `[arrival or null, text, answers or null]`, or null: added by hand. */
  readonly replies: string
}

/**
 * The opt-outs of account $1 by number as text, after $2: at most $3, in one row. (A row for each made 50 MB of objects for half a
 * million, which are kept until memory is short: the process grew by 75 MB.) For the ordinary connections; one by
 * one looked up, since a join could read all replies of the account for each piece.
 */
export const listOptOuts: PreparedStatement<OptOutPiece> = {
  name: 'list-opt-outs',
  text: `
with listed as (
  select msisdn, since, (msisdn::text) collate "C" as number
  from suppression
  where account_id = $1::int and kind = ${SUPPRESSION['opt-out']} and (msisdn::text) collate "C" > $2
  order by (msisdn::text) collate "C"
  limit $3::int
)
select string_agg(listed.number, ',' order by listed.number) as numbers,
  string_agg(${milliseconds('listed.since')}::text, ',' order by listed.number) as since,
  json_agg(
    case when reply.text is not null then json_build_array(reply.inbound_message_id, reply.text, reply.answers) end
    order by listed.number
  )::text as replies
from listed
left join lateral (
  select *
  from opt_out_reply
  where account_id = $1::int and msisdn = listed.msisdn and since = listed.since
  limit 1
) reply on true`,
}
