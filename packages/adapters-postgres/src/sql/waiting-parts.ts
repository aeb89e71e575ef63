import type { PreparedStatement } from './prepared-statement.ts'

/** Parts of a text: a JSON array of `WaitingPart`. */
interface Parts {
  readonly parts: string
}

/**
 * What waits of the texts $1 (digests, each once), which nobody else changes until the transaction ends; $2 is what is common to the
 * parts of each. In the order of digests, so that two of these never wait for each other in a circle.
 */
export const lockParts: PreparedStatement<Parts & { key: string }> = {
  name: 'lock-parts',
  text: `
insert into inbound_message_parts as waiting (key, common)
select key, common
from unnest($1::uuid[], $2::text[]) text(key, common)
order by key
on conflict (key) do update set last = now()
returning key, parts`,
}

/** From now on the parts $2 wait of the texts $1, which are locked; of a text with an empty array nothing does. */
export const writeParts: PreparedStatement<object> = {
  name: 'write-parts',
  text: `
with written as (
  select key, parts from unnest($1::uuid[], $2::text[]) text(key, parts)
), ended as (
  delete from inbound_message_parts where key = any (array(select key from written where parts = '[]'))
)
update inbound_message_parts waiting set parts = written.parts
from written
where waiting.key = any (array[written.key]) and written.parts <> '[]'`,
}

/** Which of the texts $1 still wait for a part. */
export const findWaitingParts: PreparedStatement<{ key: string }> = {
  name: 'find-waiting-parts',
  text: 'select key from inbound_message_parts where key = any ($1::uuid[])',
}

/** Takes out at most $2 texts of which no part has come for more than $1 seconds; those that another process is at are left to it. */
export const takeOldParts: PreparedStatement<Parts & { common: string }> = {
  name: 'take-old-parts',
  text: `
delete from inbound_message_parts
where key = any (array(
  select key
  from inbound_message_parts
  where last < now() - make_interval(secs => $1::float8)
  order by last
  limit $2::int
  for update skip locked
))
returning common, parts`,
}
