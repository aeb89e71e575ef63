import type { AuditEntry } from '@gateway/core/audit'

/**
 * Returns the text that an entry's hash covers, as `append-audit-entry` writes it. `before` is the hash of the previous
 * entry.
 */
export const auditHashInput = (before: string, entry: Pick<AuditEntry, 'sequence' | 'at' | 'record'>): string =>
  [before, entry.sequence, entry.at, entry.record].join('\n')

/** Hash before the first entry. */
export const auditHashOfNothing = '0'.repeat(64)
