import type { Migration } from './migration.ts'

// Unlogged: it costs no flush, and after a crash nobody sleeps, for everybody has lost the connection that would wake him.
const idle = `
create unlogged table idle_dispatcher (           -- processes that look for due work seldom, and are to be told of it
  id bigint generated always as identity primary key,
  until timestamptz not null                      -- who has not said it again by then has ended without a word
);
-- Looked into by every acceptance: 4 µs while it is empty, where reading the whole empty table costs 15.
create index idle_dispatcher_until on idle_dispatcher (until);
`

export const idleDispatchers: Migration = {
  version: 12,
  name: 'idle-dispatchers',
  sql: idle,
}
