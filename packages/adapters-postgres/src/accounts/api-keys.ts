import type { AccountId, ApiKey, KeyId, NewApiKey } from '@gateway/core/accounts'
import type { Instant } from '@gateway/core/time'
import { sql, type Kysely } from 'kysely'
import { notifyOthers } from '../changes.ts'
import { sqlState } from '../errors.ts'
import { hasRow } from '../query-parts.ts'
import { timestamp } from '../sql/arrays.ts'
import type { Tables } from '../tables.ts'

const foreignKeyViolation = '23503'

/**
 * Issues a key. Returns undefined if the account does not exist, 'repeated' if the operation has issued a key already.
 */
export async function issueKey(
  kysely: Kysely<Tables>,
  id: AccountId,
  { hash, prefix, label, expires, from }: NewApiKey,
  now: Instant,
  operation: string | undefined,
): Promise<KeyId | undefined | 'repeated'> {
  const expiresAt = expires === undefined ? null : timestamp(expires)
  try {
    const row = await kysely
      .insertInto('api_key')
      .values({
        account_id: id,
        hash,
        prefix,
        label,
        issued_at: timestamp(now),
        expires_at: expiresAt,
        key_networks: from,
        operation: operation ?? null,
      })
      .onConflict((conflict) => conflict.column('operation').doNothing())
      .returning('id')
      .executeTakeFirst()
    return row === undefined ? 'repeated' : row.id
  } catch (error) {
    if (sqlState(error) === foreignKeyViolation) return undefined
    throw error
  }
}

export async function keysOf(kysely: Kysely<Tables>, id: AccountId): Promise<readonly ApiKey[]> {
  const rows = await kysely.selectFrom('api_key').selectAll().where('account_id', '=', id).orderBy('id').execute()
  return rows.map((row) => ({
    id: row.id,
    account: row.account_id,
    prefix: row.prefix,
    label: row.label,
    issued: row.issued_at,
    ...validityOf(row),
  }))
}

/**
 * Returns the fields of a key that determine whether it opens its account. No other table of the lookup has columns
 * with these names.
 */
export const validityOf = (row: {
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
  readonly key_networks: readonly string[]
}) => ({
  expires: row.expires_at ?? undefined,
  revoked: row.revoked_at ?? undefined,
  from: row.key_networks,
})

/** Sets the networks that a key may be used from. Returns false if the key does not exist. */
export async function setKeyFrom(kysely: Kysely<Tables>, key: KeyId, from: readonly string[]): Promise<boolean> {
  const changed = kysely.updateTable('api_key').set({ key_networks: from }).where('id', '=', key)
  return hasRow(changed.returning(notifyOthers.as('notified')))
}

/**
 * Revokes a key. Returns false if it does not exist. Notifies other processes even if the key was revoked before,
 * because that notification may have been lost.
 */
export async function revokeKey(kysely: Kysely<Tables>, key: KeyId, now: Instant): Promise<boolean> {
  const revoked = kysely
    .updateTable('api_key')
    .set({ revoked_at: sql<string>`coalesce(revoked_at, ${timestamp(now)})` })
    .where('id', '=', key)
  return hasRow(revoked.returning(notifyOthers.as('notified')))
}
