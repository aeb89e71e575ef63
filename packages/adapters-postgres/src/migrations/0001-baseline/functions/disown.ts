export const disown = `
-- After a claim whose answer was lost: nothing of it was sent, so all of it goes back. The empty row stays also where this is run
-- again: it stops a claim that is still at work.
create function disown(p_dispatcher bigint, p_seq int) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for key share;
  if not found then return; end if;
  insert into claimed_batch (dispatcher, seq, carrier, lane, marked, ids, send_first_ids)
  values (p_dispatcher, p_seq, 0, 0, 0, '{}', '{}')
  on conflict do nothing;
  if found then return; end if;
  update claimed_batch set marked = 0 where dispatcher = p_dispatcher and seq = p_seq and ids <> '{}';
  if found then perform release_claimed_batches(p_dispatcher, p_seq); end if;
end $$;
`
