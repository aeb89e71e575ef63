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
select string_agg(s.number, ',' order by s.number) as numbers,
  string_agg(floor(extract(epoch from s.since) * 1000)::bigint::text, ',' order by s.number) as since,
  json_agg(case when r.text is not null then json_build_array(r.inbound_message_id, r.text, r.answers) end order by s.number)::text as replies
from (
  select msisdn, since, (msisdn::text) collate "C" as number from suppression
  where account_id = $1::int and kind = 1 and (msisdn::text) collate "C" > $2 order by (msisdn::text) collate "C" limit $3::int
) s left join lateral (
  select * from opt_out_reply where account_id = $1::int and msisdn = s.msisdn and since = s.since limit 1
) r on true`,
}
