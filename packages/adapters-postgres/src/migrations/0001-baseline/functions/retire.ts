export const retire = `
-- Ends one dispatcher, its lease over or not. Nothing happens if it has ended.
create function retire(p_dispatcher bigint) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for update;
  if not found then return; end if;
  perform release_claimed_batches(p_dispatcher);
  delete from dispatcher where id = p_dispatcher;
end $$;
`
