import type { AccountId } from '@gateway/core/accounts'
import { OUTCOME, type AnswerDeadline, type MessageId, type Order } from '@gateway/core/messages'
import type { Routes } from '@gateway/core/routes'
import type { NewPart, PartAcceptance, SmppParts, StoredPart, WholeText } from '@gateway/core/smpp-customers'
import { Batcher } from '../batcher.ts'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { layOut, sendsOf, storeSends, type OrderSends } from '../messages/sends.ts'
import { prepareOrders, type WaitingOrder } from '../messages/waiting-orders.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { readAccount } from '../sql/accounts.ts'
import {
  addParts,
  countWaitingParts,
  endJoinedParts,
  endParts,
  expireParts,
  joinParts,
  lockParts,
  removeParts,
  unjoinedTexts,
  waitingParts,
} from '../sql/smpp-parts.ts'
import type { RowOf } from '../sql/statement.ts'
import { digest } from '../value-types.ts'

/** Key of the waiting parts of one text. */
interface TextKey {
  readonly account: AccountId
  readonly key: string
}

export function postgresSmppParts(context: Context, routes: Pick<Routes, 'list'>): SmppParts {
  const { hot, ordinary } = context.pools

  async function textsOf(keys: readonly TextKey[]): Promise<ReadonlyMap<string, readonly StoredPart[]>> {
    const distinct = [...new Map(keys.map((one) => [one.key, one])).values()]
    const rows = await retryOnConnectionLoss(hot, waitingParts, {
      accounts: distinct.map(({ account }) => account),
      keys: distinct.map(({ key }) => key),
    })
    const texts = new Map<string, StoredPart[]>()
    for (const row of rows) texts.set(row.key, [...(texts.get(row.key) ?? []), partOf(row)])
    return texts
  }

  return {
    add: partAdder(context, textsOf),
    join: textJoiner(context, routes),
    refuse: async (ids, code) => {
      const ended = await retryOnConnectionLoss(hot, endParts, { ids, code })
      return ended.length > 0
    },
    unjoined: async (seconds, textsMax) => {
      const keys = await ordinary.run(unjoinedTexts, { seconds, textsMax })
      const texts = keys.length === 0 ? [] : [...(await textsOf(keys)).values()]
      return texts.map(wholeText).filter((whole) => whole !== undefined)
    },
    expire: async (seconds, textsMax) => {
      const [row] = await ordinary.run(expireParts, { seconds, textsMax })
      return row?.expired ?? 0
    },
    waiting: async (account) => (await ordinary.run(countWaitingParts, { account }))[0]?.waiting ?? 0,
  }
}

const keyOf = ({ account, number, sender, reference, total }: NewPart): string =>
  digest(JSON.stringify([account, number, sender, reference, total]))

/** The column `content` contains all fields of a part, including those that also have a column of their own. */
const partOf = ({ id, content }: RowOf<typeof waitingParts>): StoredPart => {
  const { sender, scheduled, ...rest } = content as NewPart
  return { ...rest, id, sender, scheduled }
}

function wholeText(parts: readonly StoredPart[]): WholeText | undefined {
  const total = parts[0]?.total
  return parts.length > 0 && parts.length === total ? parts : undefined
}

interface AddedPart {
  readonly part: NewPart
  readonly key: string
  readonly id: MessageId
  readonly waitingMax: number
}

const together = { inFlightMax: 2, jobsMax: 256, weightMax: 256, gatherMs: 8 }
const triesMax = 2

/** Creates a function that stores parts, many in one statement. */
function partAdder(
  { pools: { hot }, ids, log }: Context,
  textsOf: (keys: readonly TextKey[]) => Promise<ReadonlyMap<string, readonly StoredPart[]>>,
): SmppParts['add'] {
  const line = new Batcher<AddedPart, Exclude<PartAcceptance, 'overloaded'> | 'again'>({
    ...together,
    weight: () => 1,
    run: async (jobs) => {
      const stored = new Set((await storeAll(jobs)).map(({ id }) => id))
      const texts = await textsOf(jobs.map(({ part: { account }, key }) => ({ account, key })))
      return jobs.map((job) => answerTo(job, stored.has(job.id), texts.get(job.key) ?? []))
    },
  })

  /** Stores parts. If the answer is lost, runs again: ids that are stored already violate the primary key. */
  const storeAll = async (jobs: readonly AddedPart[]) => {
    const values = {
      ids: jobs.map(({ id }) => id),
      accounts: jobs.map(({ part }) => part.account),
      keys: jobs.map(({ key }) => key),
      parts: jobs.map(({ part }) => part.part),
      totals: jobs.map(({ part }) => part.total),
      numbers: jobs.map(({ part }) => part.number),
      contents: jobs.map(({ part }) => JSON.stringify(part)),
      receipts: jobs.map(({ part }) => part.options.smpp.receipts ?? 0),
      credentials: jobs.map(({ part }) => part.options.smpp.credential),
      waitingMax: jobs.map(({ waitingMax }) => waitingMax),
    }
    return hot.run(addParts, values)
  }

  function answerTo({ part, id }: AddedPart, isStored: boolean, text: readonly StoredPart[]) {
    const present = text.find((one) => one.part === part.part)
    if (isStored) return { id, whole: wholeText(text) }
    // There is neither this part nor an earlier one in its position. Either the account has too many waiting parts, or
    // the earlier part was decided a moment ago.
    if (present === undefined) return 'again'
    const isSame = JSON.stringify(present.coded) === JSON.stringify(part.coded)
    return isSame ? { id: present.id, whole: wholeText(text) } : 'another-part'
  }

  /** Removes a part that was answered as not accepted, unless its text was joined meanwhile. */
  const revoke = (id: MessageId): void => {
    retryOnConnectionLoss(hot, removeParts, { ids: [id] }).catch((problem: unknown) => {
      log.warn(`part ${id} was answered as not accepted and could not be removed: ${String(problem)}`)
    })
  }

  async function add(part: NewPart, waitingMax: number): Promise<Exclude<PartAcceptance, 'overloaded'>> {
    for (let tries = 0; tries < triesMax; tries++) {
      const [range] = await ids.take(1)
      if (range === undefined) throw new Error('no id was leased for a part')
      const added = await line.add({ part, key: keyOf(part), id: range.lo as MessageId, waitingMax })
      if (typeof added === 'string' || added.id !== range.lo) ids.giveBack([range])
      if (added !== 'again') return added
    }
    return 'too-many-parts'
  }

  return async (part, waitingMax, deadline?: AnswerDeadline) => {
    if (deadline?.isMissed === true) return 'overloaded'
    const added = await add(part, waitingMax)
    if (typeof added === 'string' || deadline === undefined || deadline.meet()) return added
    revoke(added.id)
    return 'overloaded'
  }
}

interface Join {
  readonly parts: readonly MessageId[]
  readonly order: WaitingOrder
}

type Joined = 'joined' | 'refused' | 'over'

/** Creates a function that joins the parts of a text. Concurrent calls share a transaction. */
function textJoiner(
  { pools: { hot }, senders }: Context,
  routes: Pick<Routes, 'list'>,
): (parts: readonly MessageId[], order: Order) => Promise<Joined> {
  const prepare = prepareOrders(hot, senders, routes)
  const line = new Batcher<Join, Joined>({
    ...{ inFlightMax: 2, jobsMax: 64, weightMax: 640, weight: ({ parts }) => parts.length },
    run: async (jobs) => {
      // A repetition after a lost answer finds that the parts no longer wait, if the first run was committed.
      const work = () => hot.transaction((connection) => joinTexts(connection, jobs))
      try {
        return await work()
      } catch (error) {
        if (!isLostAnswer(error)) throw error
        return work()
      }
    },
  })
  return async (parts, order) => line.add({ parts, order: await prepare(order) })
}

async function joinTexts(connection: Connection, jobs: readonly Join[]): Promise<readonly Joined[]> {
  const first = new Map<MessageId, Join>()
  for (const job of jobs) for (const id of job.parts) if (!first.has(id)) first.set(id, job)
  const distinct = jobs.filter((job) => job.parts.every((id) => first.get(id) === job))
  const rows = await connection.run(lockParts, { ids: distinct.flatMap(({ parts }) => parts) })
  const waiting = new Set(rows.map(({ id }) => id))
  const whole = distinct.filter(({ parts }) => parts.every((id) => waiting.has(id)))
  await connection.run(joinParts, {
    ids: whole.flatMap(({ parts }) => parts),
    messages: whole.flatMap(({ parts }) => parts.map(() => parts[0] ?? 0)),
  })

  const laidOut = whole.map(({ parts, order }) => ({ parts, sends: layOut(order, idOf(parts)) }))
  const paid = await storeSends(connection, sendsOf(laidOut.map(({ sends }) => sends)), [])
  const refused = new Set<Join>()
  for (const [i, { parts, sends }] of laidOut.entries()) {
    if (paid.has(sends.account)) continue
    // All texts of the account together were too expensive, so they are decided one by one.
    if (await isPaid(connection, sends)) continue
    await refuse(connection, parts, sends)
    const job = whole[i]
    if (job !== undefined) refused.add(job)
  }
  return jobs.map((job) => (refused.has(job) ? 'refused' : whole.includes(job) ? 'joined' : 'over'))
}

const idOf = ([first]: readonly MessageId[]) => {
  if (first === undefined) throw new Error('a text over SMPP has no stored parts')
  return [{ lo: first, hi: first + 1, until: Infinity }]
}

const isPaid = async (connection: Connection, laid: OrderSends): Promise<boolean> =>
  (await storeSends(connection, laid.sends, [])).has(laid.account)

/** Ends the parts of a text whose account is locked or cannot pay for the text. */
async function refuse(connection: Connection, parts: readonly MessageId[], { account }: OrderSends): Promise<void> {
  const [row] = await connection.run(readAccount, { account })
  const code = row?.locked === true ? OUTCOME.accountLocked : OUTCOME.insufficientCredits
  await connection.run(endJoinedParts, { ids: parts, code })
}
