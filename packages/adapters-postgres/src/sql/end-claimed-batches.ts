import type { PreparedStatement } from './prepared-statement.ts'
import { wakeIdle } from './idle-dispatchers.ts'

/** Gives back a claim whose answer was lost. $1 dispatcher, $2 number of the claimed batch. May be run again. */
export const disown: PreparedStatement<object> = {
  name: 'disown',
  text: `select disown($1::bigint, $2::int), ${wakeIdle} as woken`,
}

/** Gives back every batch of dispatcher $1 but those of the numbers $2, as disown does. May be run again. */
export const disownUnknown: PreparedStatement<object> = {
  name: 'disown-unknown',
  text: `
select disown(dispatcher, seq) from claimed_batch
where dispatcher = $1::bigint and seq <> all ($2::int[]) and ids <> '{}'`,
}

/** Ends batch $2 of dispatcher $1: its unmarked messages are due again, the marked ones without a row are 106. */
export const release: PreparedStatement<{ requeued: number; unknown: number }> = {
  name: 'release',
  text: `select requeued, unknown from release_claimed_batches($1::bigint, $2::int)`,
}

/** Ends dispatcher $1, and its batches as release does. May be run again. */
export const retire: PreparedStatement<object> = {
  name: 'retire',
  text: `select retire($1::bigint), ${wakeIdle} as woken`,
}

/** Ends every dispatcher whose lease is over. May be run again. Cost: 10 µs, 180 bytes of log a message. */
export const recover: PreparedStatement<{ requeued: number; unknown: number }> = {
  name: 'recover',
  text: `select requeued, unknown, case when requeued > 0 then ${wakeIdle} end as woken from recover()`,
}
