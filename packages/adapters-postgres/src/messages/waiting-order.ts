import type { AccountId } from '@gateway/core/accounts'
import type { ClientRequest } from '@gateway/core/client-requests'
import { credits, type Credits } from '@gateway/core/credits'
import { writeAnswer, type Acceptance, type AnswerDraft } from '@gateway/core/messages'
import { askedDigest, keyDigest } from '../client-requests/postgres-client-requests.ts'
import type { IdRange } from './message-ids.ts'
import type { PlacedOrder } from './place-orders.ts'
import type { AnswerToKeep, OrderSends } from './sends.ts'

/** Answer to an order. */
export type OrderAnswer = Acceptance | 'account-locked' | 'repeated'

/** Order that waits to be accepted. */
export interface WaitingOrder extends PlacedOrder {
  /** Costs of all recipients, in their order. */
  readonly costs: readonly Credits[]
  /** Number of times that the answer to the statement was lost and the order turned out not to be stored. */
  readonly losses: number
  /** Undefined for an order without an idempotency key. */
  readonly repeatable: Repeatable | undefined
}

/** Data to store for a request with an idempotency key. */
export interface Repeatable {
  /** Result of `keyDigest`. */
  readonly key: string
  /** Result of `askedDigest`. */
  readonly digest: string
  readonly draft: AnswerDraft
}

/** Order with enough ids for all its recipients. */
export interface NumberedOrder extends WaitingOrder {
  readonly ranges: readonly IdRange[]
}

/** Largest value of a price column. */
const costMax = 2 ** 31 - 1

/**
 * Returns an order that waits. Throws a RangeError for a cost that is negative, which would create credits, or too
 * large to store, which would fail other orders of the same statement.
 */
export function waitingOrder(placed: PlacedOrder, request?: ClientRequest, draft?: AnswerDraft): WaitingOrder {
  const costs = placed.texts.flatMap(({ to }) => to.map(({ cost }) => cost))
  const invalid = costs.find((cost) => cost < 0 || cost > costMax)
  if (invalid !== undefined) throw new RangeError(`invalid cost of a message: ${invalid} tenths of a credit`)
  const repeatable = request && draft && { key: keyDigest(request), digest: askedDigest(request), draft }
  return { ...placed, costs, losses: 0, repeatable }
}

export const costOf = ({ sends }: OrderSends): number =>
  sends.reduce((sum, { cost, numbers }) => sum + cost * numbers.length, 0)

/**
 * Returns the answers to orders that were stored together. `balances` are those after all orders; the balance right
 * after an order is calculated by adding the costs of later orders of its account.
 */
export function answersOf(
  laidOut: readonly OrderSends[],
  balances: ReadonlyMap<AccountId, number>,
): readonly (Acceptance | undefined)[] {
  const current = new Map(balances)
  return laidOut
    .toReversed()
    .map((laid) => {
      const balance = current.get(laid.account)
      if (balance === undefined) return undefined
      current.set(laid.account, balance + costOf(laid))
      return { results: laid.results, balance: credits(balance) }
    })
    .toReversed()
}

/** Returns the responses to store: those of orders with a key and at least one accepted recipient. */
export function answersToKeep(
  orders: readonly WaitingOrder[],
  laidOut: readonly OrderSends[],
): readonly AnswerToKeep[] {
  if (orders.every(({ repeatable }) => repeatable === undefined)) return []
  const answers: AnswerToKeep[] = []
  const costsLater = new Map<AccountId, number>()
  for (let i = laidOut.length - 1; i >= 0; i--) {
    const laid = laidOut[i]
    if (laid === undefined || laid.sends.length === 0) continue
    const { account, results } = laid
    const later = costsLater.get(account) ?? 0
    costsLater.set(account, later + costOf(laid))
    const repeatable = orders[i]?.repeatable
    if (repeatable === undefined) continue
    const { key, digest, draft } = repeatable
    answers.push({ account, key, digest, later, text: writeAnswer(draft, results) })
  }
  return answers
}
