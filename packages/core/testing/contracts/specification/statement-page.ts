import {
  credits,
  plus,
  statementSum,
  type Credits,
  type Movement,
  type StatementPage,
  type StatementPlace,
  type StatementSum,
} from '@gateway/core/credits'

/** Returns a page of a statement with these lines, whose period begins with this balance. */
export function pageOfStatement(
  lines: readonly Movement[],
  begins: Credits,
  { offset, limit }: StatementPlace,
): StatementPage {
  const none = credits(0)
  const sums: Record<StatementSum, Credits> = { added: none, taken: none, moved: none, charged: none, returned: none }
  for (const { cause, amount } of lines) {
    const sum = statementSum(cause, amount)
    sums[sum] = plus(sums[sum], amount)
  }
  const ends = lines.at(-1)?.balance ?? begins
  return { lines: lines.slice(offset, offset + limit), total: lines.length, sums, begins, ends }
}
