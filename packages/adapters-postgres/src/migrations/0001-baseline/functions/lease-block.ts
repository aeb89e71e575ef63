export const leaseBlock = `
-- A block of ids for one process, which gives it up after an hour. Its partition and the two after it exist from now on.
create function lease_block(out lo bigint, out hi bigint) language plpgsql as $$
declare b bigint := nextval('id_block');
begin
  insert into id_lease(block) values (b);
  for k in b/500 .. b/500+2 loop
    if to_regclass('send_p'||k) is null then perform add_partition(k); end if;
  end loop;
  lo := greatest(b*10000,1); hi := (b+1)*10000;
end $$;
`
