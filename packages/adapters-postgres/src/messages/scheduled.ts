import { randomUUID } from 'node:crypto'
import type { AccountId } from '@gateway/core/accounts'
import {
  labelsOf,
  noOptions,
  undeletedOutcome,
  withLabels,
  type Deletion,
  type MessageFacts,
  type MessageId,
  type Page,
  type Paged,
  type ScheduledMessage,
} from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import type { Connections } from '../connections.ts'
import { isLostAnswer } from '../errors.ts'
import { sayIfNothingDone } from '../write-health.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { detachRow, elementAt, fromArray, fromJsonById, numbersFromArray } from '../sql/arrays.ts'
import { deleteWaiting, findDeleted, foldScheduled, listScheduled, type DeletedRow } from '../sql/scheduled.ts'
import { knownCode } from '../stored-codes.ts'

/** Number of recorded changes above which a reader adds some to the counts, so that later readers are faster. */
const unfoldedMax = 500
const foldedMax = 10_000

export async function scheduled(
  ordinary: Connections,
  by: AccountId,
  { offset, limit }: Page,
): Promise<Paged<ScheduledMessage>> {
  const [row] = await ordinary.run(listScheduled, { account: by, offset, limit })
  if (row === undefined) throw new Error('listing scheduled messages returned no row')
  if (row.unfolded > unfoldedMax)
    await ordinary.run(foldScheduled, { fromAccount: by, toAccount: by, changesMax: foldedMax })
  const page = detachRow(row)
  const ids = fromArray(page.ids)
  if (ids.length === 0) return { total: page.total, items: [] }
  const numbers = numbersFromArray(page.numbers)
  const [submitted, dues] = [fromArray(page.submitted), fromArray(page.dues)]
  const prices = fromArray(page.prices)
  const references = fromJsonById(page.references)
  const labels = fromJsonById(page.labels)
  const items = ids.map((id, i) => {
    const item = {
      id,
      number: elementAt(numbers, i),
      submitted: elementAt(submitted, i),
      due: elementAt(dues, i),
      cost: elementAt(prices, i),
    }
    return withLabels(item, { reference: references.get(id), ...labelsOf(labels.get(id) ?? noOptions) })
  })
  return { total: page.total, items }
}

const lossesMax = 3

/**
 * Deletes scheduled messages with one statement. If its answer is lost, ends the statement, looks up which messages it
 * has deleted, and deletes the rest, so that the result has exactly the messages that this call deleted.
 */
export async function deleteScheduled(
  ordinary: Connections,
  lookUpSeconds: number,
  by: AccountId,
  ids: readonly MessageId[],
  since: Instant,
): Promise<readonly Deletion[]> {
  const known = new Map<number, DeletedRow>()
  const learn = (rows: readonly DeletedRow[]) => {
    for (const row of rows) if (!known.has(row.id)) known.set(row.id, row)
  }
  for (let losses = 0; ; losses++) {
    const rest = [...new Set(ids)].filter((id) => !known.has(id))
    if (rest.length === 0) break
    const operation = randomUUID()
    try {
      learn(await ordinary.run(deleteWaiting, { account: by, ids: rest, operation }))
      break
    } catch (error) {
      if (!isLostAnswer(error)) throw losses === 0 ? sayIfNothingDone(error) : error
      const look = () => ordinary.run(findDeleted, { account: by, operation })
      const deleted = await settleLostStatement(ordinary, error, lookUpSeconds, look)
      learn(deleted.map((row) => ({ ...row, due: null, code: null, reference: null })))
      if (losses === lossesMax) throw error
    }
  }
  return deletionsOf(ids, known, since)
}

/** Returns the result for each id in order. A repeated id of a deleted message is not found the second time. */
function deletionsOf(ids: readonly MessageId[], known: Map<number, DeletedRow>, since: Instant): readonly Deletion[] {
  return ids.map((id) => {
    const row = known.get(id)
    if (row === undefined) return { outcome: 'not-found' }
    const { number } = row
    if (row.refund === null) {
      const outcome = undeletedOutcome(factsOf(row), since)
      return outcome === 'sent' ? { outcome, number } : { outcome }
    }
    known.delete(id)
    return { outcome: 'deleted', number, refunded: row.refund }
  })
}

function factsOf({ id, due, code, reference }: DeletedRow): Pick<MessageFacts, 'due' | 'outcome'> {
  if (due === null) throw new Error(`message ${id} was not deleted, but its row has no due time`)
  return {
    due,
    outcome: code === null ? undefined : { code: knownCode(code), at: due, hasReference: reference !== null },
  }
}
