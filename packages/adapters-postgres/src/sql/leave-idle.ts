import type { HotStatement } from './hot-statement.ts'

/** The process of row $1 need not be told any more. May be run again. */
export const leaveIdle: HotStatement<object> = {
  name: 'leave-idle',
  text: 'delete from idle_dispatcher where id = $1::bigint',
}
