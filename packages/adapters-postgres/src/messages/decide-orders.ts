import { credits, may, spend, type AccountId } from '@gateway/core'
import type { Connection, Connections } from '../connections.ts'
import { isLostAnswer, type LostAnswer } from '../errors.ts'
import type { PreparedStatement } from '../sql/prepared-statement.ts'
import { lockAccount, readAccount, type AccountBalance } from '../sql/read-account.ts'
import { answersOf, type Accepted, type NumberedJob } from './job.ts'
import { layOut, sendsOf, type LaidOut } from './lay-out.ts'
import type { IdRange } from './message-ids.ts'
import { storeSends } from './store-sends.ts'

/** What was decided, one answer a job; or what may have been stored by the connection that was lost. */
export type Decision =
  | { readonly answers: readonly (Accepted | undefined)[]; readonly unused: readonly IdRange[] }
  | { readonly lost: LostAnswer; readonly laidOut: readonly LaidOut[] }

/**
 * Decides jobs of one account, each of which takes what fits into what those before it have left (ruling 1.11). Where
 * nothing fits, one look at the account says so: senders without credits cost no lock.
 */
export async function decideOrders(
  hot: Connections,
  account: AccountId,
  jobs: readonly NumberedJob[],
): Promise<Decision> {
  let laidOut: readonly LaidOut[] = []
  try {
    const seen = await balanceOf(hot, readAccount, account)
    const fitting = whatFits(jobs, seen)
    if (sendsOf(fitting).length === 0) return decided(account, jobs, seen, fitting)

    return await hot.transaction(async (connection) => {
      const current = await balanceOf(connection, lockAccount, account)
      laidOut = whatFits(jobs, current)
      const sends = sendsOf(laidOut)
      const balance = (await storeSends(connection, sends)).get(account)
      if (balance === undefined && sends.length > 0) throw new Error(`account ${account} did not pay what it has`)
      return decided(account, jobs, { ...current, balance: balance ?? current.balance }, laidOut)
    })
  } catch (error) {
    if (isLostAnswer(error)) return { lost: error, laidOut }
    throw error
  }
}

async function balanceOf(
  connection: Connection,
  statement: PreparedStatement<AccountBalance>,
  account: AccountId,
): Promise<AccountBalance> {
  const [row] = await connection.run(statement, [account])
  if (row === undefined) throw new Error(`no account ${account}`)
  return row
}

function whatFits(jobs: readonly NumberedJob[], account: AccountBalance): readonly LaidOut[] {
  if (!may(account, 'send')) return []
  let left = credits(account.balance)
  return jobs.map(({ order, senderOf, costs, ranges }) => {
    const spending = spend(left, costs)
    left = spending.balance
    return layOut(order, senderOf, ranges, spending.taken)
  })
}

function decided(
  account: AccountId,
  jobs: readonly NumberedJob[],
  seen: AccountBalance,
  laidOut: readonly LaidOut[],
): Decision {
  if (!may(seen, 'send'))
    return { answers: jobs.map(() => 'account-locked'), unused: jobs.flatMap(({ ranges }) => ranges) }
  return {
    answers: answersOf(laidOut, new Map([[account, seen.balance]])),
    unused: laidOut.flatMap(({ rest }) => rest),
  }
}
