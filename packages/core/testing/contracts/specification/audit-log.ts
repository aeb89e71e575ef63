import type { AuditEntry } from '@gateway/core/audit'

/** The text that an entry's hash is over, as `append-audit-entry` writes it. `before`: the hash of the entry before. */
export const auditHashInput = (before: string, entry: Pick<AuditEntry, 'sequence' | 'at' | 'record'>): string =>
  [before, entry.sequence, entry.at, entry.record].join('\n')

/** The hash before the first entry. */
export const auditHashOfNothing = '0'.repeat(64)
