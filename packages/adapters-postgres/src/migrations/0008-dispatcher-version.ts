import type { Migration } from './migration.ts'

// Null where it is not known: programs that do not tell it.
const version = `
alter table dispatcher add column version text;
`

export const dispatcherVersion: Migration = {
  version: 8,
  name: 'dispatcher-version',
  sql: version,
}
