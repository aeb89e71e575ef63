import { templateLimits } from '@gateway/core/bulk-sends'
import { rows, sql, statement } from './statement.ts'

// These statements are for the ordinary connections.

export interface TemplateRow {
  readonly id: number
  readonly name: string
  readonly text: string
}

export const listTemplates = statement(
  'list-templates',
  { parameters: { account: 'int' }, columns: rows<TemplateRow>({ id: 'bigint', name: 'text', text: 'text' }) },
  sql`select id, name, "text" from template where account_id = :account order by name collate "C"`,
)

/** Locks the account, so that concurrent changes of its templates are counted and compared one after the other. */
export const lockTemplates = statement(
  'lock-templates',
  { parameters: { account: 'int' }, columns: { id: 'int' } },
  sql`select id from account where id = :account for no key update`,
)

/** Adds a template. Returns one row, whose `id` is null if the name is in use or the account has too many. */
export const addTemplate = statement(
  'add-template',
  {
    parameters: { account: 'int', name: 'text', text: 'text' },
    columns: rows<{ readonly id: number | null; readonly isTaken: boolean }>({ id: 'bigint', isTaken: 'bool' }),
  },
  sql`
with there as (
  select count(*) n, count(*) filter (where name = :name) > 0 is_taken from template where account_id = :account
), added as (
  insert into template (account_id, name, "text")
  select :account, :name, :text from there where not is_taken and n < ${templateLimits.perAccountMax}
  returning id
)
select (select id from added) id, is_taken "isTaken" from there`,
)

/** Changes a template. Returns no row if the account has no such template, and a null `id` if the name is in use. */
export const changeTemplate = statement(
  'change-template',
  {
    parameters: { account: 'int', id: 'bigint', name: 'text', text: 'text' },
    columns: rows<{ readonly id: number | null }>({ id: 'bigint' }),
  },
  sql`
with changed as (
  update template
  set name = :name, "text" = :text
  where account_id = :account and id = :id
    and not exists (select from template where account_id = :account and name = :name and id <> :id)
  returning id
)
select (select id from changed) id from template where account_id = :account and id = :id`,
)

export const removeTemplate = statement(
  'remove-template',
  { parameters: { account: 'int', id: 'bigint' }, columns: { id: 'bigint' } },
  sql`delete from template where account_id = :account and id = :id returning id`,
)
