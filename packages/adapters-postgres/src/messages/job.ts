import type { AccountId } from '@gateway/core/accounts'
import type { ClientRequest } from '@gateway/core/client-requests'
import { credits, type Credits } from '@gateway/core/credits'
import type { Acceptance, Order } from '@gateway/core/messages'
import { askedDigest, keyDigest } from '../client-requests/postgres-client-requests.ts'
import type { IdRange } from './message-ids.ts'
import type { PlacedOrder, RouteOf, SenderOf } from './place-orders.ts'
import type { AnswerToKeep, LaidOut } from './sends.ts'

export type Accepted = Acceptance | 'account-locked' | 'repeated'

/** An order on its way to be accepted. */
export interface Job {
  readonly order: Order
  readonly senderOf: SenderOf
  readonly routeOf: RouteOf | undefined
  /** By all its recipients, in their order. */
  readonly costs: readonly Credits[]
  /** How often the answer about it was lost and it turned out not to be stored. */
  readonly losses: number
  /** Undefined: without a key. */
  readonly repeatable: Repeatable | undefined
}

/** What is to be kept of a request with a key. */
export interface Repeatable {
  /** Of `keyDigest`. */
  readonly key: string
  /** Of `askedDigest`. */
  readonly digest: string
  readonly answer: AnswerOf
}

export type AnswerOf = (results: Acceptance['results']) => string

/** A job with as many ids as it can need. */
export interface NumberedJob extends Job {
  readonly ranges: readonly IdRange[]
}

/** What a price column holds. */
const costMax = 2 ** 31 - 1

/** Throws a RangeError for a cost that is negative or cannot be stored: it would make money, or fail its neighbours. */
export function jobOf({ order, senderOf, routeOf }: PlacedOrder, request?: ClientRequest, answer?: AnswerOf): Job {
  const costs = order.texts.flatMap(({ to }) => to.map(({ cost }) => cost))
  const wrong = costs.find((cost) => cost < 0 || cost > costMax)
  if (wrong !== undefined) throw new RangeError(`not the cost of a message: ${wrong} tenths of a credit`)
  const repeatable = request && answer && { key: keyDigest(request), digest: askedDigest(request), answer }
  return { order, senderOf, routeOf, costs, losses: 0, repeatable }
}

export const costOf = ({ sends }: LaidOut): number =>
  sends.reduce((sum, { cost, numbers }) => sum + cost * numbers.length, 0)

/**
 * The answers to jobs that were stored together, where `balances` is what is left after all of them: the balance right
 * after one is what is left and what the later ones of its account cost.
 */
export function answersOf(
  laidOut: readonly LaidOut[],
  balances: ReadonlyMap<AccountId, number>,
): readonly (Acceptance | undefined)[] {
  const left = new Map(balances)
  return laidOut
    .toReversed()
    .map((laid) => {
      const balance = left.get(laid.account)
      if (balance === undefined) return undefined
      left.set(laid.account, balance + costOf(laid))
      return { results: laid.results, balance: credits(balance) }
    })
    .toReversed()
}

/** The answers to jobs with a key of which somebody is accepted. */
export function answersToKeep(jobs: readonly Job[], laidOut: readonly LaidOut[]): readonly AnswerToKeep[] {
  if (jobs.every(({ repeatable }) => repeatable === undefined)) return []
  const answers: AnswerToKeep[] = []
  const costsLater = new Map<AccountId, number>()
  for (let i = laidOut.length - 1; i >= 0; i--) {
    const laid = laidOut[i]
    if (laid === undefined || laid.sends.length === 0) continue
    const { account, results } = laid
    const later = costsLater.get(account) ?? 0
    costsLater.set(account, later + costOf(laid))
    const repeatable = jobs[i]?.repeatable
    if (repeatable === undefined) continue
    const { key, digest, answer } = repeatable
    answers.push({ account, key, digest, later, text: answer(results) })
  }
  return answers
}
