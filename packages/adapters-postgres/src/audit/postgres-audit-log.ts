import type { AuditLog, AuditSequence, ListedChange } from '@gateway/core/audit'
import type { Context } from '../context.ts'
import { appendAuditEntry, checkAuditLog, listAuditedChanges, readAuditEntries } from '../sql/audit-log.ts'
import { fromRow } from '../sql/statement.ts'

const pieceRows = 1000

/** Replaces characters that PostgreSQL does not accept in JSON: U+0000 and halves of surrogate pairs. */
const storable = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll(/\0|\p{Surrogate}/gu, '\ufffd') : value

export function postgresAuditLog({ pools: { ordinary } }: Context): AuditLog {
  async function append(record: object, ends?: AuditSequence): Promise<AuditSequence> {
    const [row] = await ordinary.run(appendAuditEntry, { ends, record: JSON.stringify(record, storable) })
    if (row === undefined) throw new Error('the head row of the audit log is missing')
    return row.sequence
  }

  return {
    begin: (actor, change) => append({ ...actor, ...change }),
    end: async (change, outcome) => {
      await append(outcome, change)
    },
    async list({ account, by, action, before }, countMax) {
      const values = { account: account?.toString(), doneBy: by, action, before, countMax }
      const changes: ListedChange[] = []
      for (const entry of (await ordinary.run(listAuditedChanges, values)).map(fromRow)) {
        const last = changes.at(-1)
        if (entry.ends === undefined) changes.push({ begun: entry, ended: undefined })
        else if (last !== undefined) changes[changes.length - 1] = { ...last, ended: entry }
      }
      return changes
    },
    async *entries() {
      for (let after = 0; ;) {
        const piece = (await ordinary.run(readAuditEntries, { after, countMax: pieceRows })).map(fromRow)
        const last = piece.at(-1)
        if (last === undefined) return
        yield piece
        after = last.sequence
      }
    },
    async check() {
      const [row] = await ordinary.run(checkAuditLog, {})
      if (row === undefined) throw new Error('the head row of the audit log is missing')
      return fromRow(row)
    },
  }
}
