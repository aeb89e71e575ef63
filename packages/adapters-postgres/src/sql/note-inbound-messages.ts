import { deduplicationSeconds } from '@gateway/core'
import type { PreparedStatement } from './prepared-statement.ts'

/**
 * Notes the digests $1 (each once) for operation $2, and returns those that were not there, or so long ago that they are no repetition
 * (`isRepetition`). In their order, so that two calls never wait for each other in a circle. It locks those that are there, which writes: so its
 * commit waits for a standby that may not have them yet.
 */
export const noteInboundMessages: PreparedStatement<{ key: string }> = {
  name: 'note-inbound-messages',
  text: `
insert into inbound_message_seen as seen (key, operation)
select key, $2::uuid
from unnest($1::uuid[]) key
order by key
on conflict (key) do update set at = now(), operation = excluded.operation
where seen.at <= now() - interval '${deduplicationSeconds} s'
returning key`,
}
