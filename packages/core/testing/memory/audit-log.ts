import { createHash } from 'node:crypto'
import type { AuditEntry, AuditLog, AuditOutcome, AuditSequence } from '@gateway/core/audit'
import { auditHashInput, auditHashOfNothing } from '../contracts/specification/audit-log.ts'
import { atomic } from './atomic.ts'
import type { MemoryStore } from './store.ts'

export function memoryAuditLog(store: MemoryStore): AuditLog {
  const { auditEntries: entries } = store
  const hashOf = (before: string, entry: Omit<AuditEntry, 'hash'>): string =>
    createHash('sha256').update(auditHashInput(before, entry)).digest('hex')

  function append(content: object, ends?: AuditSequence): AuditSequence {
    const sequence = (entries.length + 1) as AuditSequence
    const entry = { sequence, at: store.clock.now(), ends, record: JSON.stringify(content) }
    entries.push({ ...entry, hash: hashOf(entries.at(-1)?.hash ?? auditHashOfNothing, entry) })
    return sequence
  }

  return {
    begin: atomic((actor, change) => append({ ...actor, ...change })),
    end: atomic((change, outcome: AuditOutcome) => void append(outcome, change)),
    list: atomic(({ account, by, action, before = Infinity }, countMax) =>
      entries
        .toReversed()
        .filter(({ sequence, ends, record }) => {
          const change = JSON.parse(record) as Readonly<Record<string, unknown>>
          if (ends !== undefined || sequence >= before) return false
          if (account !== undefined && change['account'] !== account) return false
          if (action !== undefined && change['action'] !== action) return false
          return by === undefined || String(change['by']).includes(by)
        })
        .slice(0, countMax)
        .map((begun) => ({ begun, ended: entries.find(({ ends }) => ends === begun.sequence) })),
    ),
    async *entries() {
      await Promise.resolve()
      if (entries.length > 0) yield [...entries]
    },
    check: atomic(() => {
      const broken = entries.find(
        (entry, at) => entry.hash !== hashOf(entries[at - 1]?.hash ?? auditHashOfNothing, entry),
      )
      const hash = entries.at(-1)?.hash ?? auditHashOfNothing
      return { entries: entries.length, hash, broken: broken?.sequence }
    }),
  }
}
