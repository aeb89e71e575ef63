import type { Migration } from './migration.ts'

// An opt-out that was imported has the text that asked for it, and no arrival here. Processes of the version before show it
// as added by hand.
export const importedOptOuts: Migration = {
  version: 11,
  name: 'imported-opt-outs',
  sql: 'alter table opt_out_reply alter arrival_id drop not null;',
}
