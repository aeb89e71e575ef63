import { sql, statement } from './statement.ts'

// These statements are for the ordinary connections: the table has a row for each carrier, prefix and five minutes of a
// day.

/**
 * Adds counts to the current five minutes, and deletes counts older than 25 hours. Writes rows in one order, so that
 * two calls cannot deadlock.
 */
export const addFigures = statement(
  'add-figures',
  {
    parameters: {
      carrier: 'text',
      prefixes: 'text[]',
      delivered: 'bigint[]',
      failed: 'bigint[]',
      unknown: 'bigint[]',
      refused: 'bigint[]',
    },
  },
  sql`
with forgotten as (
  delete from carrier_figure where carrier = :carrier and slot < now() - interval '25 hours'
)
insert into carrier_figure (carrier, slot, prefix, delivered, failed, unknown, refused)
select :carrier, date_bin('5 minutes', now(), 'epoch'), added.*
from unnest(:prefixes, :delivered, :failed, :unknown, :refused) added(prefix, delivered, failed, unknown, refused)
order by prefix collate "C"
on conflict (carrier, slot, prefix) do update
set delivered = carrier_figure.delivered + excluded.delivered, failed = carrier_figure.failed + excluded.failed,
  unknown = carrier_figure.unknown + excluded.unknown, refused = carrier_figure.refused + excluded.refused`,
)

const sumsOf = (column: string): string => `sum(${column})::bigint ${column},
  coalesce(sum(${column}) filter (where slot > now() - interval '1 hour'), 0)::bigint hour_${column}`

export const sumFigures = statement(
  'sum-figures',
  {
    parameters: { carrier: 'text' },
    columns: {
      prefix: 'text',
      delivered: 'bigint',
      failed: 'bigint',
      unknown: 'bigint',
      refused: 'bigint',
      hour_delivered: 'bigint',
      hour_failed: 'bigint',
      hour_unknown: 'bigint',
      hour_refused: 'bigint',
    },
  },
  sql`
select prefix, ${['delivered', 'failed', 'unknown', 'refused'].map(sumsOf).join(',\n  ')}
from carrier_figure
where carrier = :carrier and slot > now() - interval '1 day'
group by prefix
order by prefix collate "C"`,
)
