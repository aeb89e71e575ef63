import { INCIDENT, OUTCOME } from '@gateway/core'
import { LEDGER } from '../credits/ledger-kind.ts'
import type { PreparedStatement } from './prepared-statement.ts'

/** Times in milliseconds. */
export interface MessageTraceRow {
  readonly account: number
  readonly number: number
  readonly from: string | null
  readonly confirms: boolean
  readonly first: number
  readonly n: number
  readonly price: number
  readonly parts: number
  readonly body: string
  readonly accepted: number
  readonly scheduled: number | null
  readonly message: {
    readonly code: number
    readonly at: number
    readonly stored: number
    readonly carrier: string | null
    readonly reference: string | null
  } | null
  readonly later: { readonly attempt: number; readonly until: number } | null
  readonly due: { readonly lane: number; readonly attempt: number; readonly at: number } | null
  readonly claimed: {
    readonly dispatcher: number
    readonly carrier: string
    readonly marked: boolean
    readonly attempt: number
    readonly lease: number
    readonly overdue: boolean
  } | null
  readonly refusals: number
  readonly incidents: readonly { readonly at: number; readonly what: string }[] | null
  readonly refunds:
    readonly { readonly code: number; readonly amount: number; readonly first: number; readonly last: number }[] | null
  readonly receipts:
    | readonly {
        readonly at: number
        readonly carrier: string
        readonly reference: string
        readonly code: number
        readonly own: boolean
      }[]
    | null
}

const ms = (time: string) => `floor(extract(epoch from ${time}) * 1000)::bigint`

/**
 * All that is known of message $1, as of one moment; $2 most incidents and receipts. No row: no send covers the id. For the
 * ordinary connections: it reads the claimed batches, the kept receipts and the account's entries of the ledger from one end to the
 * other.
 */
export const explainMessage: PreparedStatement<MessageTraceRow> = {
  name: 'explain-message',
  text: `
with s as materialized (
  select x.*, msisdns[$1::bigint - first_id + 1] msisdn from (
    select * from send where first_id <= $1::bigint and first_id >= $1::bigint / 10000 * 10000 order by first_id desc limit 1
  ) x where $1::bigint < first_id + n
), m as materialized (
  select * from message where id = $1::bigint
), f as materialized (
  select f.dispatcher, f.carrier, p.n <= f.marked marked, coalesce(f.attempts[p.n], 0) attempt, d.lease_until
  from claimed_batch f cross join lateral array_position(f.ids, $1::bigint) p(n) join dispatcher d on d.id = f.dispatcher
  where p.n is not null and not exists (select from m)
), c as materialized (
  select carrier, carrier_id reference from m where carrier <> 0 and (carrier_id is not null or code = ${OUTCOME.unknown})
  union all
  select carrier, null from f where marked
)
select s.account_id account, s.msisdn number, (select address from sender where id = s.sender) "from", s.confirms_opt_out confirms, s.first_id "first", s.n, s.price, s.parts, s.body,
  ${ms('s.created_at')} accepted, ${ms('s.scheduled_at')} scheduled,
  (select json_build_object('code', m.code, 'at', ${ms('coalesce(m.code_at, m.sent_at)')}, 'stored', ${ms('m.sent_at')},
    'carrier', nullif(k.name, ''), 'reference', m.carrier_id) from m left join carrier k on k.id = m.carrier) message,
  (select json_build_object('attempt', attempt, 'until', ${ms('at')})
    from later where account_id = s.account_id and lo between s.first_id and $1::bigint and $1::bigint < hi) later,
  (select json_build_object('lane', lane, 'attempt', attempt, 'at', ${ms('due_at')})
    from due where lane in (0, 1) and account_id = s.account_id and lo between s.first_id and $1::bigint and $1::bigint < hi) due,
  (select json_build_object('dispatcher', f.dispatcher, 'carrier', k.name, 'marked', f.marked, 'attempt', f.attempt,
    'lease', ${ms('f.lease_until')}, 'overdue', f.lease_until < now()) from f join carrier k on k.id = f.carrier) claimed,
  (select count(*)::int from incident where message_id = $1::bigint and what = '${INCIDENT.refusedForNow}') refusals,
  (select json_agg(json_build_object('at', ${ms('i.at')}, 'what', i.what) order by i.id)
    from (select * from incident where message_id = $1::bigint order by id desc limit $2::int) i) incidents,
  (select json_agg(json_build_object('code', code, 'amount', amount, 'first', ${ms('"first"')}, 'last', ${ms('"last"')}) order by code)
    from (select code, sum(amount)::bigint amount, min(at) "first", max(at) "last" from ledger
      where account_id = s.account_id and kind = ${LEDGER.refund} and send_first_id = s.first_id group by code) l) refunds,
  (select json_agg(json_build_object('at', ${ms('r.at')}, 'carrier', k.name, 'reference', r.carrier_id, 'code', r.code, 'own', r.own) order by r.id)
    from (select r.*, c.reference is not null own from c join unmatched_delivery_receipt r on r.carrier = c.carrier
        and (r.carrier_id = c.reference or c.reference is null and r.msisdn = s.msisdn) order by r.id desc limit $2::int) r
      join carrier k on k.id = r.carrier) receipts
from s`,
}
