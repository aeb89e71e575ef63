import type { PreparedStatement } from './prepared-statement.ts'

/** A new epoch. $1 lease in seconds, $2 the version of the program or null, $3 its host and $4 its process, or null. Run twice, it leaves one dispatcher that nobody is; its lease ends it. */
export const register: PreparedStatement<{ id: number }> = {
  name: 'register',
  text: `
insert into dispatcher (id, lease_until, version, host, pid)
values (nextval('dispatcher_epoch'), now() + make_interval(secs => $1::float8), $2::text, $3::text, $4::int)
returning id`,
}

/** $1 dispatcher, $2 lease in seconds. No row: declared dead. */
export const extend: PreparedStatement<{ id: number }> = {
  name: 'extend',
  text: `
update dispatcher
set lease_until = now() + make_interval(secs => $2::float8)
where id = $1::bigint
returning id`,
}
