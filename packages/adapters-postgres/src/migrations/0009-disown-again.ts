import type { Migration } from './migration.ts'

// As before, but run again it leaves the empty row: without it a claim that is still at work would take its flight after all.
const disown = `
create or replace function disown(p_dispatcher bigint, p_seq int) returns void language plpgsql as $$
begin
  perform 1 from dispatcher where id = p_dispatcher for key share;
  if not found then return; end if;
  insert into flight (dispatcher, seq, carrier, marked, ids, firsts) values (p_dispatcher, p_seq, 0, 0, '{}', '{}') on conflict do nothing;
  if found then return; end if;
  update flight set marked = 0 where dispatcher = p_dispatcher and seq = p_seq and ids <> '{}';
  if found then perform release_flights(p_dispatcher, p_seq); end if;
end $$;
`

export const disownAgain: Migration = {
  version: 9,
  name: 'disown-again',
  sql: disown,
}
