import { sql } from '../sql/statement.ts'

/**
 * Adds partition `k` of the three tables of messages. Partitions are attached, because "create ... partition of" would
 * block every statement behind the slowest reader. Cost: 9 ms.
 */
const addPartition = sql`
create or replace function add_partition(k bigint) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock('send'::regclass::oid::bigint);
  if to_regclass('send_p'||k) is not null then return; end if;
  execute format('create table message_p%s (like message including all,
    constraint ids check (id >= %s and id < %s)) with (fillfactor=45)', k, k*5000000, (k+1)*5000000);
  execute format('create table message_part_p%s (like message_part including all,
    constraint ids check (id >= %s and id < %s)) with (fillfactor=80)', k, k*5000000, (k+1)*5000000);
  execute format('create table send_p%s (like send including all,
    constraint ids check (first_id >= %s and first_id < %s))', k, k*5000000, (k+1)*5000000);
  execute format('create trigger count_updated after update on message_p%s referencing old table as before
    new table as after for each statement execute function count_outcomes()', k);
  execute format('alter table message attach partition message_p%s for values from (%s) to (%s)',
    k, k*5000000, (k+1)*5000000);
  execute format('alter table message_part attach partition message_part_p%s for values from (%s) to (%s)',
    k, k*5000000, (k+1)*5000000);
  execute format('alter table send attach partition send_p%s for values from (%s) to (%s)',
    k, k*5000000, (k+1)*5000000);
end $$;
`

/**
 * Leases a block of ids to one process, which stops using it after an hour. Creates the partition of the block and the
 * next two partitions. Cost: 0.5 ms, once per 10,000 ids.
 */
const leaseBlock = sql`
create or replace function lease_block(out lo bigint, out hi bigint) language plpgsql as $$
declare b bigint := nextval('id_block');
begin
  insert into id_lease(block) values (b);
  for k in b/500 .. b/500+2 loop
    if to_regclass('send_p'||k) is null then perform add_partition(k); end if;
  end loop;
  lo := greatest(b*10000,1); hi := (b+1)*10000;
end $$;
`

/** Returns the next `p_count` ids (at most 10,000) of the block that short-lived processes share. */
const leaseShared = sql`
create or replace function lease_shared(p_count int, out lo bigint, out hi bigint) language plpgsql as $$
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

export const idFunctions = [addPartition, leaseBlock, leaseShared]

/** Run once, at the end of the creation of a schema. Later partitions are made by `lease_block`. */
export const firstPartitions = 'select add_partition(k) from generate_series(0, 2) k'
