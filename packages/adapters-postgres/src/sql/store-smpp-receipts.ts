import { changeableCodes, OUTCOME } from '@gateway/core/messages'
import { DELIVERY_KIND } from '../stored-codes.ts'

const changeable = changeableCodes.join(', ')

/** Kind of the receipt for an outcome code. */
export const kindOf = (code: string): string =>
  `case when ${code} in (${changeable}) then ${DELIVERY_KIND.notification} else ${DELIVERY_KIND.receipt} end`

/** Condition that a registered_delivery requests a receipt for an outcome code (core's `receiptFor`). */
export const requests = (receipts: string, code: string): string => `case
    when ${code} in (${changeable}) then ${receipts} & 16 <> 0
    else ${receipts} & 3 = 1 or ${receipts} & 3 = case when ${code} = ${OUTCOME.delivered} then 3 else 2 end
  end`

interface Changed {
  /** SQL for the accounts of the messages, as an array. */
  readonly accounts: string
  readonly code: string
  readonly at: string
}

/**
 * Two CTEs that store receipts for the CTE `changed` (id, account_id, send_first_id, msisdn, has_reference): one for
 * each part that requested it. If no account of the messages has an SMPP credential, the CTEs only look that up. The
 * sends are read only for messages of other accounts.
 */
export const storeReceipts = (changed: string, { accounts, code, at }: Changed): string => `
smpp_wanting as materialized (
  select account_id from smpp_account where account_id = any (${accounts})
), smpp_receipts as (
  insert into smpp_delivery
    (account_id, credential_id, kind, subject, message_id, send_first_id, msisdn, code, taken, receipts, at)
  select happened.account_id, (smpp.origin ->> 'credential')::int, ${kindOf('happened.code')}, part.id, happened.id,
    happened.send_first_id, happened.msisdn, happened.code, happened.has_reference or happened.code = ${OUTCOME.unknown},
    part.receipts, happened.at
  from (
    select id, account_id, send_first_id, msisdn, has_reference, ${code} as code, ${at} as at
    from ${changed}
    where (select exists (select from smpp_wanting))
      and case when account_id in (select account_id from smpp_wanting) then true end
  ) happened
  cross join lateral (
    select options -> 'smpp' as origin from send where first_id = happened.send_first_id and options ? 'smpp' offset 0
  ) smpp
  cross join lateral (
    select coalesce((each ->> 'id')::bigint, happened.id) as id, coalesce((each ->> 'receipts')::smallint, 0) as receipts
    from jsonb_array_elements(coalesce(
      smpp.origin -> 'parts', jsonb_build_array(jsonb_build_object('receipts', smpp.origin -> 'receipts'))
    )) each
  ) part
  where ${requests('part.receipts', 'happened.code')}
  order by happened.id, part.id
)`
