import {
  adoptionWindow,
  guessesApart,
  receiptMatching,
  type CarrierId,
  type DeliveryReceipt,
  type DeliveryReceipts,
} from '@gateway/core/dispatch'
import { OUTCOME } from '@gateway/core/messages'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import type { Context } from '../context.ts'
import { sqlState } from '../errors.ts'
import {
  adoptReceipts,
  applyReceipts,
  applyRichReceipts,
  keepReceipts,
  knownOptOuts,
  knownReceipts,
  listUnmatchedReceipts,
  matchReceipts,
  nameUnknownMessages,
  newestPartition,
} from '../sql/receipts.ts'
import { fromRow, type RowOf } from '../sql/statement.ts'
import { onePerMessage, receiptKey } from './one-per-message.ts'
import { postgresUnknownMessages } from './postgres-unknown-messages.ts'
import { postgresUnreadReceipts } from './postgres-unread-receipts.ts'

const { referenceDays } = receiptMatching

const tableMissing = '42P01'

/** Implements delivery receipts. If a connection breaks before an answer, each call runs its statement again. */
export function postgresDeliveryReceipts(context: Context): DeliveryReceipts {
  const { hot, kysely, ordinary } = context.pools
  /** Partitions to search. The newest is first, because nearly every receipt belongs to a message in it. */
  let partitions: readonly number[] = []

  async function refresh(): Promise<void> {
    const [row] = await retryOnConnectionLoss(hot, newestPartition, {})
    const newest = row?.newest ?? 0
    partitions = row?.before === true ? [newest, newest - 1] : [newest]
  }

  async function apply(receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]> {
    const strangers: (readonly DeliveryReceipt[])[] = []
    for (const [name, ofCarrier] of byCarrier(receipts)) {
      const carrier = await context.carrierNumber(name)
      for (const some of guessesApart(ofCarrier)) {
        const keys = new Set((await applyAll(carrier, some)).map(receiptKey))
        if (keys.size > 0) strangers.push(some.filter((receipt) => keys.has(receiptKey(receipt))))
      }
    }
    return strangers.flat()
  }

  async function applyAll(carrier: number, receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]> {
    const unmatched: (readonly DeliveryReceipt[])[] = []
    for (const round of onePerMessage(receipts)) unmatched.push(await applyOf(carrier, round))
    return unmatched.flat()
  }

  /** Applies receipts of different messages. Returns those whose message was not found. */
  async function applyOf(carrier: number, receipts: readonly DeliveryReceipt[]): Promise<readonly DeliveryReceipt[]> {
    if (partitions.length === 0) await refresh()
    const searched = partitions
    let unmatched = await find(carrier, receipts, searched).catch((error: unknown) => {
      if (sqlState(error) !== tableMissing) throw error
      // Retention has dropped a partition. All receipts are searched again, and those that were applied are recognized.
      return receipts
    })
    if (unmatched.length === 0) return unmatched
    await refresh()
    unmatched = await find(
      carrier,
      unmatched,
      partitions.filter((partition) => !searched.includes(partition)),
    )
    const toStore = unmatched.filter(({ isGuess }) => isGuess !== true)
    if (toStore.length > 0) await keep(carrier, toStore)
    return unmatched
  }

  /** Applies the receipts whose messages are in these partitions; returns the others. */
  async function find(carrier: number, receipts: readonly DeliveryReceipt[], within: readonly number[]) {
    let unmatched = receipts
    for (const partition of within) unmatched = await findIn(partition, carrier, unmatched)
    return unmatched
  }

  async function findIn(partition: number, carrier: number, receipts: readonly DeliveryReceipt[]) {
    if (receipts.length === 0) return receipts
    const values = {
      references: receipts.map(({ reference }) => reference),
      codes: receipts.map(({ code }) => code),
      carrier,
      numbers: receipts.map(({ number }) => number),
    }
    const isOptOut = values.codes.includes(OUTCOME.optedOut)
    const [row] = await (isOptOut || receipts.some(({ price }) => price !== undefined)
      ? retryOnConnectionLoss(hot, applyRichReceipts(partition), { ...values, ...pricesOf(receipts) })
      : retryOnConnectionLoss(hot, applyReceipts(partition), values))
    if (row?.applied === receipts.length) return []
    const findKnown = isOptOut ? knownOptOuts : knownReceipts
    const rows = await retryOnConnectionLoss(hot, findKnown(partition), values)
    // Confirms, because the connection that applied the receipts may have broken while it waited for a standby.
    if (rows.length > 0 && !rows.some(({ written }) => written)) await hot.confirm()
    const done = new Set(rows.map(({ position }) => position))
    return receipts.filter((_, at) => !done.has(at + 1))
  }

  async function keep(carrier: number, receipts: readonly DeliveryReceipt[]): Promise<void> {
    await retryOnConnectionLoss(hot, keepReceipts, {
      references: receipts.map(({ reference }) => reference),
      codes: receipts.map(({ code }) => code),
      carrier,
      numbers: receipts.map(({ number }) => number),
      submitted: receipts.map(({ submitted }) => submitted),
      messages: receipts.map(({ ownId }) => ownId?.message),
      tags: receipts.map(({ ownId }) => ownId?.tag),
      areOfPart: receipts.map(({ isOfPart }) => isOfPart === true),
      ...pricesOf(receipts),
    })
  }

  async function matchDue(dueMax: number): Promise<Partial<RowOf<typeof matchReceipts>>> {
    const [row] = await retryOnConnectionLoss(hot, matchReceipts, { dueMax })
    return row ?? {}
  }

  return {
    apply,
    match: async (receiptsMax) => {
      const { found = 0, named = 0 } = await matchDue(receiptsMax)
      if (named === 0 || found >= receiptsMax) return found
      const [row] = await retryOnConnectionLoss(ordinary, nameUnknownMessages, {})
      if (row === undefined || row.resolved === 0) return found
      return found + ((await matchDue(receiptsMax - found)).found ?? 0)
    },
    adopt: async (ageSeconds) => {
      const [row] = await retryOnConnectionLoss(ordinary, adoptReceipts, {
        ageSeconds,
        ...adoptionWindow,
        referenceDays,
      })
      return row?.adopted ?? 0
    },
    unmatched: async (countMax) =>
      (await retryOnConnectionLoss(ordinary, listUnmatchedReceipts, { countMax })).map(fromRow),
    learnedForm: async (carrier) => {
      const row = await kysely
        .selectFrom('carrier')
        .select('receipt_form')
        .where('name', '=', carrier)
        .executeTakeFirst()
      return row?.receipt_form ?? undefined
    },
    keepLearnedForm: async (carrier, form) => {
      const number = await context.carrierNumber(carrier)
      await kysely.updateTable('carrier').set({ receipt_form: form }).where('id', '=', number).execute()
    },
    ...postgresUnreadReceipts(context),
    ...postgresUnknownMessages(context),
  }
}

const pricesOf = (receipts: readonly DeliveryReceipt[]) => ({
  prices: receipts.map(({ price }) => price?.amount),
  currencies: receipts.map(({ price }) => price?.currency),
})

function byCarrier(receipts: readonly DeliveryReceipt[]): ReadonlyMap<CarrierId, readonly DeliveryReceipt[]> {
  const carriers = new Map<CarrierId, DeliveryReceipt[]>()
  for (const receipt of receipts) {
    const of = carriers.get(receipt.carrier) ?? []
    of.push(receipt)
    carriers.set(receipt.carrier, of)
  }
  return carriers
}
