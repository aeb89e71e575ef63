import type { PreparedStatement } from './prepared-statement.ts'

/** $1 dispatcher, $2 lease in seconds. No row: declared dead. */
export const extend: PreparedStatement<{ id: number }> = {
  name: 'extend',
  text: 'update dispatcher set lease_until = now() + make_interval(secs => $2::float8) where id = $1::bigint returning id',
}
