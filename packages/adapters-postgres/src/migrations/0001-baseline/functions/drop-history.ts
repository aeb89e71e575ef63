// A block of ids that was leased so long ago cannot get sends any more, and only such blocks are looked through. A partition
// that filled up within a month goes as a whole once its newest send is old enough; of all others the blocks go one by one.
export const dropHistory = `
-- One step of dropping what is older than p_days. A walk begins with p_after -1; each next step is given v_next of the one before.
create function drop_history(p_after bigint, p_days int, p_contact_days int, p_seen_seconds int, p_taken_days int, p_receipt_days int, p_answer_seconds int,
  out v_state text, out v_next bigint, out v_partitions int, out v_sends bigint, out v_messages bigint) language plpgsql as $$
declare
  v_before timestamptz := now() - make_interval(days => p_days);
  v_leased timestamptz := least(v_before, now() - interval '2 days');
  v_newest bigint := (select last_value / 500 from id_block);
  k bigint;
  v_dropped bool;
  v_count int;
begin
  v_state := 'busy'; v_next := p_after; v_partitions := 0; v_sends := 0; v_messages := 0;
  if not pg_try_advisory_xact_lock('id_lease'::regclass::oid::bigint) then return; end if;
  v_state := 'more';

  if p_after < 0 then
    for k in
      select p.k from (select substr(inhrelid::regclass::text, 7)::bigint k from pg_inherits
        where inhparent = 'send'::regclass and inhrelid::regclass::text ~ '^send_p[0-9]+$') p
      where p.k <= v_newest - 2 and not exists (select from id_lease where block >= p.k * 500 and block < (p.k + 1) * 500 and at >= v_leased)
      order by 1
    loop
      select d.dropped, d.sends, d.messages into v_dropped, v_sends, v_messages from drop_partition(k, v_before) d;
      v_partitions := coalesce(v_dropped, false)::int;
      if v_dropped is not null then return; end if;
    end loop;
  end if;

  select min(l.block) into v_next
  from id_lease l join (select block / 500 k, min(at) filled_from from id_lease group by 1) p on p.k = l.block / 500
  where l.block > p_after and l.at < v_leased and (p.k > v_newest - 2 or p.filled_from < v_before - interval '30 days');
  if v_next is not null then
    select d.sends, d.messages into v_sends, v_messages from drop_block(v_next, v_before) d;
    return;
  end if;

  v_next := p_after; v_sends := 0; v_messages := 0;
  if not drop_inbound_messages(v_before, p_contact_days, p_seen_seconds, p_taken_days) then return; end if;
  delete from client_request where ctid = any (array(
    select ctid from client_request where at <= now() - make_interval(secs => p_answer_seconds) order by at limit 5000
  )) and at <= now() - make_interval(secs => p_answer_seconds);
  get diagnostics v_count = row_count;
  if v_count = 5000 then return; end if;
  v_state := 'all'; v_next := -1;
  delete from login_failure where until < now();
  delete from unmatched_delivery_receipt where at < now() - make_interval(days => p_receipt_days);
end $$;
`
