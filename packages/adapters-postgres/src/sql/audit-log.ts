import type { AuditSequence } from '@gateway/core/audit'
import { milliseconds } from './arrays.ts'
import { instant } from './columns.ts'
import { column, nullable, sql, statement } from './statement.ts'

// Run these statements on the ordinary connections (`pools.ordinary`).

/** SHA-256 of an entry as core's `auditHashInput` defines it. */
const hashed = (before: string, sequence: string, at: string, record: string): string =>
  `sha256(convert_to(concat_ws(E'\\n', encode(${before}, 'hex'), ${sequence}, ${milliseconds(at)}, ${record}), 'UTF8'))`

const auditSequence = column<AuditSequence>('bigint')

const now = `date_trunc('milliseconds', now())`

/**
 * Appends an entry. Locks the row of the head until the entry is stored, so that writers take turns and each sees the
 * hash of the previous entry.
 */
export const appendAuditEntry = statement(
  'append-audit-entry',
  { parameters: { ends: 'bigint?', record: 'text' }, columns: { sequence: auditSequence } },
  sql`
with head as (
  update audit_head
  set sequence = sequence + 1, hash = ${hashed('hash', 'sequence + 1', now, ':record')}
  returning sequence, hash
)
insert into audit_entry (sequence, at, ends, record, hash)
select sequence, ${now}, :ends, :record, hash
from head
returning sequence`,
)

const entry = (from: string): string =>
  `${from}.sequence, ${milliseconds(`${from}.at`)} as at, ${from}.ends, ${from}.record, encode(${from}.hash, 'hex') as hash`

const entryColumns = {
  sequence: auditSequence,
  at: instant,
  ends: nullable(auditSequence),
  record: 'text',
  hash: 'text',
} as const

/** Lists changes, latest first, each followed by its outcome. */
export const listAuditedChanges = statement(
  'list-audited-changes',
  {
    parameters: { account: 'text?', doneBy: 'text?', action: 'text?', before: 'bigint?', countMax: 'int' },
    columns: entryColumns,
  },
  sql`
with found as (
  select *
  from audit_entry
  where ends is null and sequence < coalesce(:before, 9223372036854775807)
    and (:account is null or record::json ->> 'account' = :account)
    and (:doneBy is null or strpos(record::json ->> 'by', :doneBy) > 0)
    and (:action is null or record::json ->> 'action' = :action)
  order by sequence desc
  limit :countMax
)
select ${entry('listed')}
from (
  select found.*, sequence as change from found
  union all
  select outcome.*, found.sequence from found join audit_entry outcome on outcome.ends = found.sequence
) listed
order by change desc, sequence`,
)

export const readAuditEntries = statement(
  'read-audit-entries',
  { parameters: { after: 'bigint', countMax: 'int' }, columns: entryColumns },
  sql`select ${entry('audit_entry')} from audit_entry where sequence > :after order by sequence limit :countMax`,
)

/** Checks the chain of hashes in one snapshot. `broken` is the first entry that was altered or is missing. */
export const checkAuditLog = statement(
  'check-audit-log',
  { parameters: {}, columns: { entries: 'bigint', hash: 'text', broken: nullable(auditSequence) } },
  sql`
with numbered as (
  select sequence, at, record, hash, row_number() over (order by sequence) as place,
    coalesce(lag(hash) over (order by sequence), decode(repeat('0', 64), 'hex')) as before
  from audit_entry
), summed as (
  select count(*) as entries,
    min(place) filter (where sequence <> place or hash <> ${hashed('before', 'sequence', 'at', 'record')}) as broken
  from numbered
)
select summed.entries, encode(head.hash, 'hex') as hash,
  case
    when broken is not null then broken
    when head.sequence <> summed.entries then least(head.sequence, summed.entries) + 1
    when head.hash <> coalesce(last.hash, head.hash) then head.sequence
  end as broken
from summed
cross join audit_head head
left join audit_entry last on last.sequence = head.sequence`,
)
