import type { Account } from '@gateway/core/accounts'
import type { BulkRow, BulkSend, BulkSendId } from '@gateway/core/bulk-sends'
import type { HolderVisit } from '../../page.ts'
import { rowOf } from '../../recipients.ts'

/** Returns the stored send of the path if it belongs to the account. */
export async function ownBulkSend({ gateway, account, parameters }: HolderVisit): Promise<BulkSend | undefined> {
  const id = /^[1-9][0-9]{0,14}$/.test(parameters.id ?? '') ? Number(parameters.id) : undefined
  return id === undefined ? undefined : gateway.queries.findBulkSend(account, id as BulkSendId)
}

/** Yields the stored rows of all calls. After a call has ended, only its rows without a message remain stored. */
export async function* storedRows({ gateway, account }: HolderVisit, { id, calls }: BulkSend): AsyncIterable<BulkRow> {
  for (let call = 0; call < calls; call++) yield* await gateway.queries.bulkRows(account, id, call)
}

/** True for a send whose numbers were typed. The columns of a file have names. */
export const isTyped = ({ columns }: Pick<BulkSend, 'columns'>): boolean => columns.length === 0

/** True if a person must choose the column of the numbers before anything is sent. */
export const needsColumn = ([first]: readonly BulkRow[]): boolean => first?.refused === 'column-not-chosen'

/** Returns the index of the column that the numbers were read from, or undefined for a typed list. */
export function numberColumnOf(
  { columns }: BulkSend,
  rows: readonly BulkRow[],
  { callingCode }: Pick<Account, 'callingCode'>,
): number | undefined {
  if (needsColumn(rows)) return undefined
  const at = columns.findIndex((_name, i) =>
    rows.every(({ number, fields }) => rowOf(0, fields[i] ?? '', [], callingCode).number === number),
  )
  return at < 0 ? undefined : at
}
