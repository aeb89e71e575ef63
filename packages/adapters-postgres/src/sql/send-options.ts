import { sql } from './statement.ts'

/**
 * SQL for all options of a row of `send` as JSON, in the form of core's `SendOptions`. Options that statements use for
 * decisions have columns of their own. The other options are in the column `options`.
 */
export const sendOptions = sql`(
    coalesce(options, '{}') || jsonb_strip_nulls(jsonb_build_object(
      'validity', (extract(epoch from expires_at - coalesce(scheduled_at, created_at)) / 60)::int,
      'priority', nullif(priority, 0), 'flash', nullif(flash, false)
    ))
  ) as options`
