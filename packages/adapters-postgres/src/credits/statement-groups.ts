import { plus, type Cause, type Movement } from '@gateway/core/credits'
import type { listBulkRuns } from '../sql/bulk-sends.ts'
import type { RowOf } from '../sql/statement.ts'

/** Ids `lo` to `hi` of messages of the bulk send `id`. */
export type BulkRun = RowOf<typeof listBulkRuns>

/** Line of an account statement that sums the debits of one bulk send, or its refunds with one code. */
export interface StatementGroup {
  line: Movement
}

/** Returns the run that contains this id. The runs are sorted and never overlap. */
function runOf(runs: readonly BulkRun[], id: number): BulkRun | undefined {
  let [low, high] = [0, runs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((runs[middle]?.lo ?? 0) <= id) low = middle + 1
    else high = middle
  }
  const run = runs[low - 1]
  return run !== undefined && id <= run.hi ? run : undefined
}

/**
 * Returns the key of the group that a movement belongs to, and the cause for the line of the group. Returns undefined
 * for a movement that is a line of its own.
 */
export function groupOf(
  runs: readonly BulkRun[],
  { cause }: Movement,
): { readonly key: string; readonly cause: Cause } | undefined {
  if ((cause.kind !== 'send' && cause.kind !== 'refund') || cause.first === undefined) return undefined
  const run = runOf(runs, cause.first)
  if (run === undefined) return undefined
  const bulk = run.id
  const code = cause.kind === 'refund' ? (cause.code ?? '') : ''
  return { key: `${cause.kind} ${bulk} ${code}`, cause: { ...cause, bulk } }
}

/** Adds a movement to the line of its group, if it has one. */
export function addToGroup(groups: Map<string, StatementGroup>, runs: readonly BulkRun[], movement: Movement): void {
  const found = groupOf(runs, movement)
  if (found === undefined) return
  const { key, cause } = found
  const group = groups.get(key)
  if (group === undefined) {
    groups.set(key, { line: { ...movement, cause } })
    return
  }
  const { line } = group
  const isDebit = line.cause.kind === 'send' && cause.kind === 'send'
  const joined = isDebit ? { ...line.cause, messages: line.cause.messages + cause.messages } : line.cause
  group.line = { ...line, amount: plus(line.amount, movement.amount), cause: joined }
}
