import type { Migration } from './migration.ts'

// Null where it is not known: those that run while this is applied.
const since = `
alter table dispatcher add column since timestamptz;
alter table dispatcher alter column since set default now();
`

export const dispatcherSince: Migration = {
  version: 5,
  name: 'dispatcher-since',
  sql: since,
}
