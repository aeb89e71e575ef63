import { OUTCOME } from '@gateway/core/messages'
import { sql } from '../sql/statement.ts'
import { storeEvent } from '../sql/store-events.ts'
import { DELIVERY_KIND, EVENT_CODE, OPT_KEYWORD, SUPPRESSION } from '../stored-codes.ts'

const received = `case when r.owner is null then ${EVENT_CODE['reply.received']}
      else ${EVENT_CODE['shortcode.received']} end`

const event = { account: 'r.last_account', subject: 'v_inbound_message' }

/**
 * Stores inbound messages in their order, with their events, opt-outs and opt-ins. Returns the confirmations of
 * opt-outs that are to be sent.
 */
export const receiveInboundMessages = sql`
create or replace function receive_inbound_messages(p_carriers smallint[], p_from text[], p_numbers bigint[],
  p_to text[], p_texts text[], p_opt_keywords smallint[])
  returns table (o_account int, o_sender int, o_address text, o_number bigint) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off
  set enable_mergejoin = off as $$
declare r record; v_inbound_message bigint; v_stored bigint[] := '{}';
begin
  for r in
    with arrived as materialized (
      select text.*, sender.id known, sender.account_id owner
      from unnest(p_carriers, p_from, p_numbers, p_to, p_texts, p_opt_keywords)
        with ordinality text(carrier, from_address, number, to_address, body, opt_keyword, place)
      left join lateral (select id, account_id from sender where address = text.to_address offset 0) sender on true
    ), may_have_left as materialized (
      select send.account_id, claimed.id, send.sender, send.msisdns[claimed.id - send.first_id + 1] msisdn
      from claimed_batch batch
      cross join lateral unnest(batch.ids[:batch.marked]) with ordinality claimed(id, place)
      cross join lateral (
        select account_id, sender, confirms_opt_out, first_id, msisdns
        from send
        where first_id = coalesce(batch.send_first_ids[claimed.place], batch.send_first_ids[1]) offset 0
      ) send
      where claimed.id is not null and not send.confirms_opt_out
        and case when send.msisdns[claimed.id - send.first_id + 1] in (select number from arrived)
          then not exists (select from message where message.id = any (array[claimed.id])) end
    ), by_number as (
      select msisdn, jsonb_agg(jsonb_build_object('account_id', account_id, 'id', id, 'sender', sender)) in_flight
      from may_have_left
      group by msisdn
    ), all_in_flight as materialized (
      select jsonb_object_agg(msisdn, in_flight) by_number
      from by_number
    )
    select arrived.*, coalesce(sent.account_id, unrecorded.account_id) last_account,
      coalesce(sent.id, unrecorded.id) last_id, coalesce(sent.sender, unrecorded.sender) last_sender
    from arrived
    left join lateral (
      select contact.account_id, contact.id, contact.sender
      from (
        select account_id, id, sender, sent_at at
        from message
        where msisdn = arrived.number and not confirms_opt_out
          and (carrier_id is not null or code = ${OUTCOME.unknown})
        union all
        select account_id, message_id, sender, at
        from last_contact
        where msisdn = arrived.number
      ) contact
      where case when arrived.owner is not null
        then contact.account_id = arrived.owner
        else arrived.known is null or contact.sender in (0, arrived.known) end
      order by contact.at desc, contact.id desc
      limit 1
    ) sent on true
    left join lateral (
      select contact.account_id, contact.id, contact.sender
      from (select by_number -> arrived.number::text in_flight from all_in_flight where sent.id is null) of_number
      cross join lateral jsonb_to_recordset(of_number.in_flight) contact(account_id int, id bigint, sender int)
      where case when arrived.owner is not null
        then contact.account_id = arrived.owner
        else arrived.known is null or contact.sender in (0, arrived.known) end
      order by contact.id desc
      limit 1
    ) unrecorded on true
    order by arrived.place
  loop
    insert into inbound_message (account_id, short_code, answers, carrier, from_address, to_address, text)
    values (coalesce(r.owner, r.last_account), case when r.owner is not null then r.known end, r.last_id, r.carrier,
      r.from_address, r.to_address, r.body)
    returning account_id, id into r.last_account, v_inbound_message;
    continue when r.last_account is null;
    v_stored := v_stored || v_inbound_message;
    insert into inbound_message_offered (account_id, at, inbound_message_id, to_code)
      values (r.last_account, now(), v_inbound_message, r.owner is not null);
    ${storeEvent(received, { ...event, isReply: true })};
    insert into smpp_delivery (account_id, credential_id, kind, subject, message_id, at)
    select account_id, (
        select (options -> 'smpp' ->> 'credential')::int
        from (
          select first_id, n, options
          from send
          where first_id <= r.last_id and first_id >= r.last_id / 10000 * 10000
          order by first_id desc
          limit 1
        ) answered
        where r.last_id < first_id + n
      ), ${DELIVERY_KIND.reply}, v_inbound_message, r.last_id, now()
    from smpp_account
    where account_id = r.last_account and replies_by = 'smpp';
    continue when r.number is null or r.opt_keyword = 0;

    if r.opt_keyword = ${OPT_KEYWORD['opt-in']} then
      delete from suppression
      where account_id = r.last_account and msisdn = r.number and kind + 0 = ${SUPPRESSION['opt-out']};
      if found then
        ${storeEvent(EVENT_CODE['optout.removed'], { ...event, number: 'r.number' })};
      end if;
      delete from opt_out_reply where account_id = r.last_account and msisdn = r.number;
      continue;
    end if;
    insert into suppression (account_id, msisdn, kind, since)
    values (r.last_account, r.number, ${SUPPRESSION['opt-out']}, now())
    on conflict do nothing;
    continue when not found;
    ${storeEvent(EVENT_CODE['optout.added'], { ...event, number: 'r.number' })};
    insert into opt_out_reply (account_id, msisdn, since, inbound_message_id, text, answers)
    values (r.last_account, r.number, now(), v_inbound_message, r.body, r.last_id)
    on conflict (account_id, msisdn) do update set since = excluded.since,
      inbound_message_id = excluded.inbound_message_id, text = excluded.text, answers = excluded.answers;
    o_sender := coalesce(r.known, nullif(r.last_sender, 0));
    continue when o_sender is null or exists (select from account where id = r.last_account and locked)
      or exists (select from suppression where account_id in (0, r.last_account) and msisdn = r.number
        and kind + 0 = ${SUPPRESSION.blacklist});
    o_account := r.last_account;
    o_address := (select address from sender where id = o_sender);
    o_number := r.number;
    return next;
  end loop;
  -- At the end and in one order, so that two of these never wait for each other in a circle.
  insert into conversation (account_id, from_address, last_id, last_at, arrived)
  select account_id, from_address, max(id), max(at), count(*)
  from inbound_message
  where id = any (v_stored)
  group by account_id, from_address
  order by account_id, from_address collate "C"
  on conflict (account_id, from_address) do update set last_id = greatest(conversation.last_id, excluded.last_id),
    last_at = greatest(conversation.last_at, excluded.last_at), arrived = conversation.arrived + excluded.arrived;
end $$;
`
