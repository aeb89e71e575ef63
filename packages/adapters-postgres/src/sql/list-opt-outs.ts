import type { HotStatement } from './hot-statement.ts'

export interface OptOutRow {
  readonly number: string
  readonly since: number
  readonly arrival: number | null
  readonly text: string | null
  readonly answers: number | null
}

/**
 * The opt-outs of account $1 by number as text, after $2: at most $3. For the ordinary connections; one by one looked up, since a join
 * could read all replies of the account for each piece.
 */
export const listOptOuts: HotStatement<OptOutRow> = {
  name: 'list-opt-outs',
  text: `
select s.number, s.since, r.arrival_id as arrival, r.text, r.answers
from (
  select msisdn, since, (msisdn::text) collate "C" as number from suppression
  where account_id = $1::int and kind = 1 and (msisdn::text) collate "C" > $2 order by (msisdn::text) collate "C" limit $3::int
) s left join lateral (
  select * from opt_out_reply where account_id = $1::int and msisdn = s.msisdn and since = s.since limit 1
) r on true order by s.number`,
}
