import { deduplicationSeconds } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'
import { wakeIdle } from './idle-dispatchers.ts'

/**
 * Notes the digests $1 (each once) for operation $2, and returns those that were not there, or so long ago that they are no repetition. In their order, so that two
 * calls never wait for each other crosswise.
 */
export const noteArrivals: PreparedStatement<{ key: string }> = {
  name: 'note-arrivals',
  text: `
insert into inbound_message_seen as s (key, operation) select key, $2::uuid from unnest($1::uuid[]) key order by key
on conflict (key) do update set at = now(), operation = excluded.operation where s.at <= now() - interval '${deduplicationSeconds} s'
returning key`,
}

/** Which of the digests $1 operation $2 has noted: its answer was lost. */
export const findNoted: PreparedStatement<{ key: string }> = {
  name: 'find-noted',
  text: 'select key from inbound_message_seen where key = any ($1::uuid[]) and operation = $2::uuid',
}

/** Which of the texts $1 still wait for a part. */
export const findWaitingParts: PreparedStatement<{ key: string }> = {
  name: 'find-waiting-parts',
  text: 'select key from inbound_message_parts where key = any ($1::uuid[])',
}

export interface JoinedParts {
  /** The place of the part that ended it, from 1. */
  readonly part: number
  readonly complete: boolean
  readonly common: string
  readonly places: readonly number[]
  readonly pieces: readonly string[]
}

/** $1 digests of the texts, $2 what is common to their parts, $3 numbers of the parts, $4 how many there are, $5 texts as JSON. */
export const addParts: PreparedStatement<JoinedParts> = {
  name: 'add-parts',
  text: `select part, complete, common, places, pieces
from add_parts($1::uuid[], $2::text[], $3::smallint[], $4::smallint[], $5::text[])`,
}

/** Takes out at most $2 texts of which no part has come for more than $1 seconds; those that another process is at are left to it. */
export const takeOldParts: PreparedStatement<Omit<JoinedParts, 'part' | 'complete'>> = {
  name: 'take-old-parts',
  text: `
delete from inbound_message_parts where key = any (array(
  select key from inbound_message_parts where last < now() - make_interval(secs => $1::float8) order by last limit $2::int for update skip locked
)) returning common, numbers as places, texts as pieces`,
}

/**
 * $1 carriers, $2 from, $3 numbers or null, $4 to or null, $5 texts, $6 opt keywords (0 none, 1 to opt out, 2 to opt in), $7 message ids for
 * confirmations, $8 text and $9 parts of these. What it does and returns is said in the schema. In a transaction with what was noted.
 */
export const receiveTexts: PreparedStatement<{ used: number }> = {
  name: 'receive-texts',
  text: `select used, case when used > 0 then ${wakeIdle} end as woken
from receive_inbound_messages($1::smallint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::bigint[], $8::text, $9::smallint) as used`,
}
