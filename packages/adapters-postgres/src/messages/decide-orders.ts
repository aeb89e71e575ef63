import { may, type AccountId } from '@gateway/core/accounts'
import { spend } from '@gateway/core/credits'
import type { Acceptance } from '@gateway/core/messages'
import type { Connection, Connections } from '../connections.ts'
import { isLostAnswer, type LostAnswer } from '../errors.ts'
import { lockAccount, readAccount, type AccountBalance } from '../sql/accounts.ts'
import { keysWithAnswers } from '../sql/client-requests.ts'
import type { IdRange } from './message-ids.ts'
import { answersOf, answersToKeep, layOut, sendsOf, storeSends, type Hold, type OrderSends } from './sends.ts'
import type { WaitingOrder } from './waiting-orders.ts'

export type OrderAnswer = Acceptance | 'account-locked' | 'repeated' | 'overloaded'

/** One answer for each order, or, if the connection broke, the sends that it may have stored. */
export type Decision =
  | {
      readonly answers: readonly (OrderAnswer | undefined)[]
      readonly unused: readonly IdRange[]
      /** Sends of the orders that were stored. */
      readonly laidOut: readonly OrderSends[]
    }
  | { readonly lost: LostAnswer; readonly laidOut: readonly OrderSends[] }

/**
 * Decides orders of one account in turn. Each order is accepted as far as the balance that earlier orders left allows
 * (ruling 1.11). The account is read first and is not locked if nothing can be paid. Stores nothing for an order whose
 * key has a response already. If several orders have the same key, the database rejects all of them (23505).
 */
export async function decideOrders(
  hot: Connections,
  account: AccountId,
  orders: readonly WaitingOrder[],
  hold?: Hold,
): Promise<Decision> {
  let laidOut: readonly OrderSends[] = []
  try {
    const seen = await balanceOf(hot, readAccount, account)
    const fitting = whatFits(orders, seen)
    if (sendsOf(fitting).length === 0) return decided(account, orders, seen, fitting)

    return await hot.transaction(async (connection) => {
      const current = await balanceOf(connection, lockAccount, account)
      const answered = await withAnswers(connection, orders)
      laidOut = whatFits(orders, current, answered)
      const sends = sendsOf(laidOut)
      const balance = (await storeSends(connection, sends, answersToKeep(orders, laidOut), hold)).get(account)
      if (balance === undefined && sends.length > 0)
        throw new Error(`account ${account}: its balance was sufficient but the charge failed`)
      return decided(account, orders, { ...current, balance: balance ?? current.balance }, laidOut, answered)
    })
  } catch (error) {
    if (isLostAnswer(error)) return { lost: error, laidOut }
    throw error
  }
}

async function balanceOf(
  connection: Connection,
  statement: typeof readAccount,
  account: AccountId,
): Promise<AccountBalance> {
  const [row] = await connection.run(statement, { account })
  if (row === undefined) throw new Error(`account ${account} does not exist`)
  return row
}

/** Returns the keys of these orders that have a response. Until the transaction ends, no other transaction adds one. */
async function withAnswers(connection: Connection, orders: readonly WaitingOrder[]): Promise<ReadonlySet<string>> {
  const keys = orders.flatMap(({ repeatable }) => repeatable?.key ?? [])
  if (keys.length === 0) return none
  return new Set((await connection.run(keysWithAnswers, { keys })).map(({ key }) => key))
}

const none: ReadonlySet<string> = new Set()

const isIn = (answered: ReadonlySet<string>, { repeatable }: WaitingOrder): boolean =>
  repeatable !== undefined && answered.has(repeatable.key)

function whatFits(orders: readonly WaitingOrder[], account: AccountBalance, answered = none): readonly OrderSends[] {
  if (!may(account, 'send')) return []
  let { balance } = account
  return orders.map((order) => {
    const { costs, ranges } = order
    if (isIn(answered, order)) return layOut(order, ranges, Array(costs.length).fill(false))
    const spending = spend(balance, costs)
    balance = spending.balance
    return layOut(order, ranges, spending.paid)
  })
}

function decided(
  account: AccountId,
  orders: readonly WaitingOrder[],
  seen: AccountBalance,
  laidOut: readonly OrderSends[],
  answered = none,
): Decision {
  if (!may(seen, 'send'))
    return { answers: orders.map(() => 'account-locked'), unused: orders.flatMap(({ ranges }) => ranges), laidOut: [] }
  const answers = answersOf(laidOut, new Map([[account, seen.balance]]))
  return {
    answers: orders.map((order, i) => (isIn(answered, order) ? 'repeated' : answers[i])),
    unused: laidOut.flatMap(({ rest }) => rest),
    laidOut,
  }
}
