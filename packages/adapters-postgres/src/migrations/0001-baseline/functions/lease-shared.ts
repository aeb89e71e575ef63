export const leaseShared = `
-- The next p_count ids (at most 10,000) of the block that short-lived processes share.
create function lease_shared(p_count int, out lo bigint, out hi bigint) language plpgsql as $$
declare s id_share;
begin
  select * into s from id_share for update;
  if s.next + p_count > s.hi or s.at < now() - interval '1 hour' then
    select l.lo, l.hi, now() into s.next, s.hi, s.at from lease_block() l;
  end if;
  lo := s.next; hi := least(s.next + p_count, s.hi);
  update id_share set next = lease_shared.hi, hi = s.hi, at = s.at;
end $$;
`
