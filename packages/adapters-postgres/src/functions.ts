import { hash } from 'node:crypto'
import { adoptDeliveryReceipts } from './functions/receipts.ts'
import { chooseSender } from './functions/senders.ts'
import { creditFunctions } from './functions/credits.ts'
import { deleteWaiting } from './functions/delete-waiting.ts'
import { dispatcherFunctions } from './functions/dispatchers.ts'
import { firstPartitions, idFunctions } from './functions/ids.ts'
import { listScheduled } from './functions/list-scheduled.ts'
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
  /** Creates all of them, or replaces those of before. Several statements, run in one transaction. */
  readonly sql: string
  /** Run once, at the end of the creation of a schema. */
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
 * Version and digest of the functions of a schema; null for version 0.2.0, which did not store them. In a comment of
 * the table, not in a table of its own, because processes of 0.2.0 that make a backup or a copy include all
 * tables. Read from the catalog as rows, not by calling a function: after a wait for a lock PostgreSQL may still call a
 * function as it was before.
 */
export const findFunctions = sql`
select substring(comment from '^functions ([0-9]+) ')::int as version, substring(comment from ' ([0-9a-f]+)$') as digest
from obj_description('schema_migration'::regclass, 'pg_class') comment`

/**
 * Every function that this code calls. Older and newer processes run on them too (P-16), so one with other parameters
 * or another result gets a new name, and one that is no longer called stays until the release after next. To change a
 * function, increase the version and add the digest to `functions.test.ts`.
 */
export const functions: Functions = functionsOf(
  1,
  [
    ...creditFunctions,
    chooseSender,
    ...outcomeFunctions,
    ...idFunctions,
    listScheduled,
    deleteWaiting,
    ...dispatcherFunctions,
    adoptDeliveryReceipts,
    receiveInboundMessages,
    ...webhookFunctions,
    ...retentionFunctions,
  ],
  firstPartitions,
)
