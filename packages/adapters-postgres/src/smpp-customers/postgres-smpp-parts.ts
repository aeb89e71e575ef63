import { OUTCOME, type MessageId, type Order } from '@gateway/core/messages'
import type { Routes } from '@gateway/core/routes'
import type { LonePart, NewPart, SmppParts } from '@gateway/core/smpp-customers'
import { Batcher } from '../batcher.ts'
import type { Connection } from '../connections.ts'
import type { Context } from '../context.ts'
import { isLostAnswer } from '../errors.ts'
import { layOut, sendsOf, storeSends, type OrderSends } from '../messages/sends.ts'
import { prepareOrders, type WaitingOrder } from '../messages/waiting-orders.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import { readAccount } from '../sql/accounts.ts'
import {
  countWaitingParts,
  endJoinedParts,
  endParts,
  expireParts,
  findLonePart,
  joinParts,
  lockParts,
  unjoinedTexts,
  waitingParts,
} from '../sql/smpp-parts.ts'
import { fromRow, type RowOf } from '../sql/statement.ts'
import { partAdder, wholeText, type TextsOf, type WaitingPart } from './add-parts.ts'

export function postgresSmppParts(context: Context, routes: Pick<Routes, 'list'>): SmppParts {
  const { hot, ordinary } = context.pools

  const textsOf: TextsOf = async (keys) => {
    const distinct = [...new Map(keys.map((one) => [one.key, one])).values()]
    const rows = await retryOnConnectionLoss(hot, waitingParts, {
      accounts: distinct.map(({ account }) => account),
      keys: distinct.map(({ key }) => key),
    })
    const texts = new Map<string, WaitingPart[]>()
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
    findLone: async (id) => {
      const [row] = await ordinary.run(findLonePart, { id })
      return row && lonePartOf(id, row)
    },
    waiting: async (account) => (await ordinary.run(countWaitingParts, { account }))[0]?.waiting ?? 0,
  }
}

function lonePartOf(id: MessageId, { code, at, bind, incidents, ...part }: RowOf<typeof findLonePart>): LonePart {
  const ended = code === null || at === null ? undefined : { code, at }
  return { ...part, id, bind: fromRow(bind), ended, incidents: incidents.map(fromRow) }
}

/** The column `content` contains all fields of a part, including those that also have a column of their own. */
const partOf = ({ id, content, isHeld }: RowOf<typeof waitingParts>): WaitingPart => {
  const { sender, scheduled, ...rest } = content as NewPart
  return { part: { ...rest, id, sender, scheduled }, isHeld }
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
