import type { AccountId } from '@gateway/core/accounts'
import type { Credits } from '@gateway/core/credits'
import { isSameSend, laneOf, type Lane } from '@gateway/core/dispatch'
import type {
  Acceptance,
  Body,
  MessageId,
  MessageReference,
  Msisdn,
  OrderedRecipient,
  Priority,
  ValidityMinutes,
} from '@gateway/core/messages'
import { byRoute, noRoute, type RouteNumber } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import type { Connection, Connections } from '../connections.ts'
import type { LostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import { accept, acceptKeyed, acceptKeyedScheduled, acceptScheduled, findSends } from '../sql/accept.ts'
import { readBalances } from '../sql/accounts.ts'
import { arrayOf, arrayOfTexts } from '../sql/arrays.ts'
import { LANE } from '../stored-codes.ts'
import type { IdRange } from './message-ids.ts'
import type { PlacedOrder, RouteOf } from './place-orders.ts'

/** One text at one price from one address to many numbers, with consecutive ids: a row of `send`. */
export interface Send {
  readonly firstId: number
  readonly account: AccountId
  readonly body: Body
  readonly due: Instant | undefined
  /** Undefined: by the setting of dispatchers. */
  readonly validity: ValidityMinutes | undefined
  readonly priority: Priority
  readonly flash: boolean
  /** That of the text. */
  readonly lane: Lane
  readonly cost: Credits
  /** `sender.id` of the address that it leaves from. */
  readonly from: number
  readonly route: RouteNumber
  readonly numbers: Msisdn[]
  /** Of the numbers, in their order; undefined: none has one. */
  references: (MessageReference | undefined)[] | undefined
}

export interface LaidOut {
  readonly account: AccountId
  readonly sends: readonly Send[]
  readonly results: Acceptance['results']
  /** Ids that were not needed. */
  readonly rest: readonly IdRange[]
}

/** A claim reads a part of a send's numbers: what it does not need should not be many times that. */
const numbersMax = 1000

/**
 * Gives the recipients of an order, in their order, the ids of `ranges`, and joins neighbours of one text, one price,
 * one address and one route into a send; those of a text over several routes in the order of the routes (`byRoute`).
 * Those that `taken`, by all recipients of the order, leaves out have no id and are in no send.
 */
export function layOut(
  { order, senderOf, routeOf = withoutRoute }: PlacedOrder,
  ranges: readonly IdRange[],
  taken?: readonly boolean[],
): LaidOut {
  const ids = counter(ranges)
  const sends: Send[] = []
  let recipient = 0
  const results = order.texts.map(({ body, due, validity, priority = 0, flash = false, to }) => {
    const isTaken = taken?.slice(recipient, (recipient += to.length)) ?? []
    const lane = laneOf(to.length - isTaken.filter((is) => !is).length)
    let open: Send | undefined
    const given: (MessageId | 'insufficient-credits')[] = to.map(() => 'insufficient-credits')
    // Not by flatMap, which makes an array of each.
    const paid: { readonly i: number; readonly recipient: OrderedRecipient; readonly route: RouteNumber }[] = []
    for (const [i, recipient] of to.entries())
      if (isTaken[i] !== false) paid.push({ i, recipient, route: routeOf(recipient) })
    for (const { i, recipient, route } of byRoute(paid)) {
      const id = ids.next()
      const { number, cost, reference } = recipient
      const from = senderOf(recipient)
      if (open === undefined || !isSameSend(open, { cost, from, route }) || !continues(open, id)) {
        open = {
          firstId: id,
          account: order.account,
          body,
          due,
          validity,
          priority,
          flash,
          lane,
          cost,
          from,
          route,
          numbers: [],
          references: undefined,
        }
        sends.push(open)
      }
      if (reference !== undefined) open.references ??= open.numbers.map(() => undefined)
      open.numbers.push(number)
      open.references?.push(reference)
      given[i] = id as MessageId
    }
    return given
  })
  return { account: order.account, sends, results, rest: ids.rest() }
}

const withoutRoute: RouteOf = () => noRoute

const block = (id: number): number => Math.floor(id / 10_000)

const continues = ({ firstId, numbers }: Send, id: number): boolean =>
  firstId + numbers.length === id && numbers.length < numbersMax && block(firstId) === block(id)

function counter(ranges: readonly IdRange[]) {
  let at = 0
  let id = ranges[0]?.lo ?? 0
  return {
    next(): number {
      for (let range = ranges[at]; range !== undefined; range = ranges[++at]) {
        id = Math.max(id, range.lo)
        if (id < range.hi) return id++
      }
      throw new Error('an order has more recipients than ids')
    },
    rest: (): readonly IdRange[] =>
      ranges.slice(at).map((range) => ({ ...range, lo: Math.min(Math.max(id, range.lo), range.hi) })),
  }
}

export const sendsOf = (laidOut: readonly LaidOut[]): readonly Send[] => laidOut.flatMap(({ sends }) => sends)

/** A first answer (ruling 1.24), but for the balance, which the statement knows that charges. */
export interface AnswerToKeep {
  readonly account: AccountId
  /** As of `Repeatable`. */
  readonly key: string
  readonly digest: string
  /** What later orders of its account cost, that are stored with it. */
  readonly later: number
  readonly text: string
}

/** By account that paid, what it has left. */
export type Paid = ReadonlyMap<AccountId, number>

/** One statement: all sends of an account are charged and stored, with the answers about them, or none of them. */
export async function storeSends(
  connection: Connection,
  sends: readonly Send[],
  answers: readonly AnswerToKeep[],
): Promise<Paid> {
  if (sends.length === 0) return new Map()
  const values = {
    accounts: sends.map(({ account }) => account),
    firstIds: sends.map(({ firstId }) => firstId),
    counts: sends.map(({ numbers }) => numbers.length),
    prices: sends.map(({ cost }) => cost),
    parts: sends.map(({ body }) => body.parts),
    texts: sends.map(({ body }) => body.text),
    numbers: sends.map(({ numbers }) => arrayOf(numbers)),
    senders: sends.map(({ from }) => from),
    lanes: sends.map(({ lane }) => LANE[lane]),
    routes: sends.map(({ route }) => route),
    references: sends.some(({ references }) => references !== undefined) ? sends.map(referencesOf) : [],
    priorities: sends.some(({ priority }) => priority > 0) ? sends.map(({ priority }) => priority) : [],
    flashes: sends.some(({ flash }) => flash) ? sends.map(({ flash }) => flash) : [],
    validities: sends.some(({ validity }) => validity !== undefined) ? sends.map(({ validity }) => validity) : [],
  }
  const isScheduled = sends.some(({ due }) => due !== undefined)
  const due = { due: sends.map((send) => send.due) }
  const keyed = answers.length > 0 ? keptOf(answers) : undefined
  const rows = await (keyed === undefined
    ? isScheduled
      ? connection.run(acceptScheduled, { ...values, ...due })
      : connection.run(accept, values)
    : isScheduled
      ? connection.run(acceptKeyedScheduled, { ...values, ...due, ...keyed })
      : connection.run(acceptKeyed, { ...values, ...keyed }))
  return new Map(rows.map(({ id, balance }) => [id as AccountId, balance]))
}

const referencesOf = ({ references }: Send): string | undefined => references && arrayOfTexts(references)

const keptOf = (answers: readonly AnswerToKeep[]) => ({
  keyAccounts: answers.map(({ account }) => account),
  keys: answers.map(({ key }) => key),
  digests: answers.map(({ digest }) => digest),
  costsLater: answers.map(({ later }) => later),
  answers: answers.map(({ text }) => text),
})

export interface LookedUpOutcome {
  /** First ids of the sends that were stored. All others were not, and never will be. */
  readonly stored: ReadonlySet<number>
  readonly balances: ReadonlyMap<AccountId, number>
}

/** What became of sends whose answer was lost. Tries for `seconds`; then throws, and nobody knows. */
export const lookUpOutcome = (
  hot: Connections,
  lost: LostAnswer,
  sends: readonly Send[],
  seconds: number,
): Promise<LookedUpOutcome> => settleLostStatement(hot, lost, seconds, () => look(hot, sends))

async function look(hot: Connections, sends: readonly Send[]): Promise<LookedUpOutcome> {
  const found = await hot.run(findSends, { ids: sends.map(({ firstId }) => firstId) })
  const accounts = new Set(sends.map(({ account }) => account))
  const balances = await hot.run(readBalances, { accounts: [...accounts] })
  return {
    stored: new Set(found.map((row) => row.first_id)),
    balances: new Map(balances.map(({ id, balance }) => [id as AccountId, balance])),
  }
}
