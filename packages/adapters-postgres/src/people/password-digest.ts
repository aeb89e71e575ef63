import { createHash } from 'node:crypto'
import type { PasswordHash } from '@gateway/core/people'

/*
 * A session stores a digest of the password hash that it was opened under, so that a changed password ends the session.
 */

/** Returns an SQL expression for the digest of the password hash in a column. Null counts as ''. */
export const digestOfColumn = (column: string): string => `sha256(convert_to(coalesce(${column}, ''), 'UTF8'))`

/** Returns the same digest of a password hash. */
export const digestOf = (password: PasswordHash): Buffer => createHash('sha256').update(password, 'utf8').digest()
