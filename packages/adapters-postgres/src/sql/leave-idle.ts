import type { PreparedStatement } from './prepared-statement.ts'

/** The process of row $1 need not be told any more. May be run again. */
export const leaveIdle: PreparedStatement<object> = {
  name: 'leave-idle',
  text: 'delete from idle_dispatcher where id = $1::bigint',
}
