import { hash } from 'node:crypto'
import { adoptDeliveryReceipts } from './functions/receipts.ts'
import { chooseSender } from './functions/senders.ts'
import { creditFunctions } from './functions/credits.ts'
import { deleteWaiting } from './functions/delete-waiting.ts'
import { dispatcherFunctions } from './functions/dispatchers.ts'
import { firstPartitions, idFunctions } from './functions/ids.ts'
import { listScheduled, listScheduledMessages } from './functions/list-scheduled.ts'
import { outcomeFunctions } from './functions/outcomes.ts'
import { receiveInboundMessages } from './functions/inbound.ts'
import { retentionFunctions } from './functions/retention.ts'
import { webhookFunctions } from './functions/webhooks.ts'
import { sql } from './sql/statement.ts'

/** Functions of the schema, which are replaced together. */
export interface Functions {
  /** Increases with each change, so that an older process can recognise newer functions. */
  readonly version: number
  /** SHA-256 of their text, in hexadecimal. */
  readonly digest: string
  /** Statements that create or replace all functions, to be run in one transaction. */
  readonly sql: string
  /** SQL to run once, at the end of the creation of a schema. */
  readonly firstRun: string
}

export function functionsOf(version: number, texts: readonly string[], firstRun = ''): Functions {
  const text = texts.join('')
  const digest = hash('sha256', text)
  return {
    version,
    digest,
    sql: `${text}comment on table schema_migration is 'functions ${version} ${digest}';\n`,
    firstRun,
  }
}

/**
 * Query for the version and the digest of the functions of a schema. Both are null for version 0.2.0, which did not
 * store them. They are stored in a comment on a table, not in a table of their own, because backups and copies made by
 * 0.2.0 include all tables. No function returns them, because after waiting for a lock PostgreSQL may still call the
 * previous version of a function.
 */
export const findFunctions = sql`
select substring(comment from '^functions ([0-9]+) ')::int as version, substring(comment from ' ([0-9a-f]+)$') as digest
from obj_description('schema_migration'::regclass, 'pg_class') comment`

/**
 * All functions that this code calls. Older and newer processes call them too (P-16), so a function with other
 * parameters or another result gets a new name, and a function that is no longer called stays until the release after
 * next. To change a function, increase the version and add the digest to `functions.test.ts`.
 */
export const functions: Functions = functionsOf(
  8,
  [
    ...creditFunctions,
    chooseSender,
    ...outcomeFunctions,
    ...idFunctions,
    listScheduled,
    listScheduledMessages,
    deleteWaiting,
    ...dispatcherFunctions,
    adoptDeliveryReceipts,
    receiveInboundMessages,
    ...webhookFunctions,
    ...retentionFunctions,
  ],
  firstPartitions,
)
