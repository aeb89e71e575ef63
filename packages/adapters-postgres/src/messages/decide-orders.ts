import { may, type AccountId } from '@gateway/core/accounts'
import { spend } from '@gateway/core/credits'
import type { Connection, Connections } from '../connections.ts'
import { isLostAnswer, type LostAnswer } from '../errors.ts'
import { lockAccount, readAccount, type AccountBalance } from '../sql/accounts.ts'
import { keysWithAnswers } from '../sql/client-requests.ts'
import { answersOf, answersToKeep, type Accepted, type NumberedJob } from './job.ts'
import type { IdRange } from './message-ids.ts'
import { layOut, sendsOf, storeSends, type LaidOut } from './sends.ts'

/** One answer for each job, or, if the connection broke, the sends that it may have stored. */
export type Decision =
  | { readonly answers: readonly (Accepted | undefined)[]; readonly unused: readonly IdRange[] }
  | { readonly lost: LostAnswer; readonly laidOut: readonly LaidOut[] }

/**
 * Decides jobs of one account in order: each is accepted as far as the balance allows that earlier jobs left (ruling
 * 1.11). If nothing can be paid, one read of the account shows it, so that accounts without credits are not locked.
 * Stores nothing for a job whose key has a response already. If several jobs have the same key, the database rejects
 * all (23505).
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
      const answered = await withAnswers(connection, jobs)
      laidOut = whatFits(jobs, current, answered)
      const sends = sendsOf(laidOut)
      const balance = (await storeSends(connection, sends, answersToKeep(jobs, laidOut))).get(account)
      if (balance === undefined && sends.length > 0)
        throw new Error(`account ${account}: its balance was sufficient but the charge failed`)
      return decided(account, jobs, { ...current, balance: balance ?? current.balance }, laidOut, answered)
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

/** Returns the keys of these jobs that have a response. Until the transaction ends, no other transaction adds one. */
async function withAnswers(connection: Connection, jobs: readonly NumberedJob[]): Promise<ReadonlySet<string>> {
  const keys = jobs.flatMap(({ repeatable }) => repeatable?.key ?? [])
  if (keys.length === 0) return none
  return new Set((await connection.run(keysWithAnswers, { keys })).map(({ key }) => key))
}

const none: ReadonlySet<string> = new Set()

const isIn = (answered: ReadonlySet<string>, { repeatable }: NumberedJob): boolean =>
  repeatable !== undefined && answered.has(repeatable.key)

function whatFits(jobs: readonly NumberedJob[], account: AccountBalance, answered = none): readonly LaidOut[] {
  if (!may(account, 'send')) return []
  let { balance } = account
  return jobs.map((job) => {
    const { costs, ranges } = job
    if (isIn(answered, job)) return layOut(job, ranges, Array(costs.length).fill(false))
    const spending = spend(balance, costs)
    balance = spending.balance
    return layOut(job, ranges, spending.paid)
  })
}

function decided(
  account: AccountId,
  jobs: readonly NumberedJob[],
  seen: AccountBalance,
  laidOut: readonly LaidOut[],
  answered = none,
): Decision {
  if (!may(seen, 'send'))
    return { answers: jobs.map(() => 'account-locked'), unused: jobs.flatMap(({ ranges }) => ranges) }
  const answers = answersOf(laidOut, new Map([[account, seen.balance]]))
  return {
    answers: jobs.map((job, i) => (isIn(answered, job) ? 'repeated' : answers[i])),
    unused: laidOut.flatMap(({ rest }) => rest),
  }
}
