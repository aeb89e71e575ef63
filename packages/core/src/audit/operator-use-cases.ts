import type { AuditPorts } from '../ports.ts'
import type { AuditCheck, AuditEntry, AuditSearch, ListedChange } from './audit-log.ts'

export const auditQueries = (ports: AuditPorts) => ({
  listChanges: (search: AuditSearch, countMax: number): Promise<readonly ListedChange[]> =>
    ports.auditLog.list(search, countMax),
  exportAuditLog: (): AsyncIterable<readonly AuditEntry[]> => ports.auditLog.entries(),
  verifyAuditLog: (): Promise<AuditCheck> => ports.auditLog.check(),
})
