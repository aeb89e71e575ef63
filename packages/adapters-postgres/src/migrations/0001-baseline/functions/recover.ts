export const recover = `
-- Ends the dispatchers whose lease is over. Those that another process ends at this moment are left to it.
create function recover(out requeued bigint, out unknown bigint) language plpgsql as $$
declare v_id bigint; r record;
begin
  requeued := 0; unknown := 0;
  for v_id in select id from dispatcher where lease_until < clock_timestamp() order by id for update skip locked loop
    select * into r from release_claimed_batches(v_id);
    requeued := requeued + r.requeued; unknown := unknown + r.unknown;
    delete from dispatcher where id = v_id;
  end loop;
end $$;
`
