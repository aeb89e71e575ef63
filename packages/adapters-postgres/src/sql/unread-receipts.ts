import { unreadReceiptBounds, type UnreadReceiptId } from '@gateway/core/dispatch'
import { milliseconds } from './arrays.ts'
import { carrierId, instant, msisdn } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`), because the table stays small.

/**
 * Stores receipts that could not be read, and deletes the oldest rows beyond the maximum. The maximum applies to the
 * span of ids, which an index gives. If some rows were deleted by hand, fewer rows than the maximum are therefore kept.
 * The statement may be run again, but then stores the receipts twice.
 */
export const keepUnreadReceipts = statement(
  'keep-unread-receipts',
  {
    parameters: {
      carriers: 'text[]',
      references: 'text?[]',
      numbers: 'bigint?[]',
      texts: 'text[]',
      pdus: 'text[]',
      areMessages: 'bool[]',
    },
  },
  sql`
with kept as (
  insert into unread_delivery_receipt (carrier, carrier_id, msisdn, text, pdu, is_message)
  select carrier, reference, msisdn, text, decode(pdu, 'hex'), is_message
  from unnest(:carriers, :references, :numbers, :texts, :pdus, :areMessages)
    with ordinality receipt(carrier, reference, msisdn, text, pdu, is_message, position)
  order by position
  returning id
)
delete from unread_delivery_receipt where id <= (select max(id) from kept) - ${unreadReceiptBounds.countMax}`,
)

/** Lists stored receipts, oldest first. Times are in milliseconds. */
export const listUnreadReceipts = statement(
  'list-unread-receipts',
  {
    parameters: { after: 'bigint', countMax: 'int', carrier: 'text?', since: 'bigint?' },
    columns: {
      id: column<UnreadReceiptId>('bigint'),
      carrier: carrierId,
      reference: 'text?',
      number: nullable(msisdn),
      text: 'text',
      pdu: 'text',
      isMessage: 'bool',
      at: instant,
    },
  },
  sql`
select id, carrier, carrier_id as reference, msisdn::text as number, text, encode(pdu, 'hex') as pdu, is_message as "isMessage",
  ${milliseconds('at')} as at
from unread_delivery_receipt
where id > :after and carrier = coalesce(:carrier, carrier)
  and (:since is null or at >= to_timestamp(:since / 1000.0))
order by id
limit :countMax`,
)

export const dropUnreadReceipts = statement(
  'drop-unread-receipts',
  { parameters: { ids: 'bigint[]' } },
  sql`delete from unread_delivery_receipt where id = any (:ids)`,
)
