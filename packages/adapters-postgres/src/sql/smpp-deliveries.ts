import { INCIDENT } from '@gateway/core/messages'
import type { SmppCredentialId, SmppDeliveryId, SmppOptions } from '@gateway/core/smpp-customers'
import { DELIVERY_KIND } from '../stored-codes.ts'
import { accountId, msisdn, outcomeCode, senderAddress } from './columns.ts'
import { receivingCredentials } from './smpp-binds.ts'
import { column, nullable, sql, statement } from './statement.ts'

const deliveryId = column<SmppDeliveryId>('bigint')

/**
 * Claims deliveries for receivers (accounts, credentials, and the maximum for each). Of the deliveries for one subject
 * only the first is claimed. A receiver with the account of another in the same call may get fewer than its maximum.
 * Returns the deliveries with the facts of their messages.
 */
export const claimDeliveries = statement(
  'claim-smpp-deliveries',
  {
    parameters: {
      ...{ process: 'uuid', accounts: 'int[]', credentials: 'int[]', rooms: 'int[]', leaseSeconds: 'float8' },
    },
    columns: {
      id: deliveryId,
      account: accountId,
      credential: nullable(column<SmppCredentialId>('int')),
      kind: 'smallint',
      tries: 'smallint',
      subject: 'bigint',
      number: nullable(msisdn),
      code: nullable(outcomeCode),
      isAccepted: 'bool',
      receipts: 'smallint?',
      at: 'timestamptz',
      from: nullable(senderAddress),
      smpp: nullable(column<SmppOptions>('json')),
      submitted: 'timestamptz?',
      inbound: nullable(column<{ readonly from: string; readonly to: string | null; readonly text: string }>('json')),
    },
  },
  sql`
with receiving as materialized (${receivingCredentials(':accounts')}), due as (
  select delivery.id
  from unnest(:accounts, :credentials, :rooms) receiver(account_id, credential_id, room)
  cross join lateral (
    select id
    from smpp_delivery
    where account_id = receiver.account_id and due_at <= now()
      and (
        smpp_delivery.credential_id is null or smpp_delivery.credential_id = receiver.credential_id
        or smpp_delivery.credential_id not in (select credential_id from receiving)
      )
      and not exists (
        select
        from smpp_delivery earlier
        where earlier.subject = any (array[smpp_delivery.subject])
          and case
            when earlier.id < smpp_delivery.id
            then (earlier.kind = ${DELIVERY_KIND.reply}) = (smpp_delivery.kind = ${DELIVERY_KIND.reply})
          end
      )
    order by due_at, id
    limit receiver.room
    for update skip locked
  ) delivery
), claimed as (
  update smpp_delivery
  set process = :process, tries = tries + 1, due_at = now() + make_interval(secs => :leaseSeconds)
  where id = any (array(select id from due))
  returning *
)
select claimed.id, claimed.account_id as account, claimed.credential_id as credential, claimed.kind, claimed.tries,
  claimed.subject, claimed.msisdn::text as number, claimed.code,
  coalesce(claimed.taken, false) as "isAccepted", claimed.receipts, claimed.at,
  send.address as "from", coalesce(send.smpp, part.smpp) as smpp, coalesce(part.stored_at, send.created_at) as submitted,
  inbound.message as inbound
from claimed
left join lateral (
  select options -> 'smpp' as smpp, created_at,
    (select address from sender where sender.id = send.sender) as address
  from send
  where first_id = claimed.send_first_id offset 0
) send on true
left join lateral (
  select content::jsonb -> 'options' -> 'smpp' as smpp, stored_at
  from smpp_part
  where id = claimed.subject and claimed.kind <> ${DELIVERY_KIND.reply} offset 0
) part on true
left join lateral (
  select jsonb_build_object('from', from_address, 'to', to_address, 'text', text) as message
  from inbound_message
  where id = claimed.subject and claimed.kind = ${DELIVERY_KIND.reply} offset 0
) inbound on true
order by claimed.id`,
)

/**
 * Stores results of attempts of a process: deletes the deliveries that ended, and makes the others due after the pause.
 * `isOver` is true for a delivered or refused one, `isRefused` for a refused one, `isUnsent` if the attempt does not
 * count. Ignores deliveries that the process no longer has for that attempt. May be run again.
 */
export const settleDeliveries = statement(
  'settle-smpp-deliveries',
  {
    parameters: {
      ...{ process: 'uuid', ids: 'bigint[]', tries: 'smallint[]', isOver: 'bool[]', isRefused: 'bool[]' },
      ...{ isUnsent: 'bool[]', pauseSeconds: 'float8[]' },
    },
  },
  sql`
with results as materialized (
  select *
  from unnest(:ids, :tries, :isOver, :isRefused, :isUnsent, :pauseSeconds)
    result(id, tries, is_over, is_refused, is_unsent, pause_seconds)
), over as (
  delete from smpp_delivery
  using results
  where smpp_delivery.id = any (array[results.id]) and results.is_over and smpp_delivery.tries = results.tries
    and process = :process
  returning smpp_delivery.message_id, results.is_refused
), notes as (
  insert into incident (message_id, what)
  select message_id, '${INCIDENT.deliveryRefused}' from over where is_refused and message_id is not null
)
update smpp_delivery
set process = null, tries = smpp_delivery.tries - case when results.is_unsent then 1 else 0 end,
  due_at = now() + make_interval(secs => results.pause_seconds)
from results
where smpp_delivery.id = any (array[results.id]) and not results.is_over and smpp_delivery.tries = results.tries
  and process = :process`,
)

/** Deletes deliveries that were stored too long ago, with a note in the traces of their messages. */
export const dropDeliveries = statement(
  'drop-smpp-deliveries',
  { parameters: { hours: 'float8', rowsMax: 'int' }, columns: { dropped: 'int' } },
  sql`
with old as (
  select id
  from smpp_delivery
  where stored_at < now() - make_interval(secs => :hours * 3600)
  order by stored_at
  limit :rowsMax
  for update skip locked
), dropped as (
  delete from smpp_delivery where id = any (array(select id from old)) returning message_id
), notes as (
  insert into incident (message_id, what)
  select message_id, '${INCIDENT.deliveryDropped}' from dropped where message_id is not null
)
select count(*)::int as dropped from dropped`,
)

/** Counts the waiting deliveries of an account, or of all if it is null. Runs on the ordinary connections. */
export const waitingDeliveries = statement(
  'waiting-smpp-deliveries',
  {
    parameters: { account: 'int?' },
    columns: { receipts: 'int', replies: 'int', oldest: 'timestamptz?' },
  },
  sql`
select (count(*) filter (where kind <> ${DELIVERY_KIND.reply}))::int as receipts,
  (count(*) filter (where kind = ${DELIVERY_KIND.reply}))::int as replies, min(stored_at) as oldest
from smpp_delivery
where :account is null or account_id = :account`,
)
