import type { AccountId } from '@gateway/core/accounts'
import { credits, type Credits } from '@gateway/core/credits'
import { isSameSend, laneOf, type Lane } from '@gateway/core/dispatch'
import {
  noOptions,
  storedOptionsOf,
  writeAnswer,
  type Acceptance,
  type Body,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type Order,
  type OrderedRecipient,
  type SendOptions,
} from '@gateway/core/messages'
import { byRoute, noRoute, type RouteNumber } from '@gateway/core/routes'
import type { Instant } from '@gateway/core/time'
import type { Connection, Connections } from '../connections.ts'
import type { LostAnswer } from '../errors.ts'
import { settleLostStatement } from '../settle-lost-statement.ts'
import {
  accept,
  acceptHeld,
  acceptHeldKeyed,
  acceptHeldKeyedScheduled,
  acceptHeldScheduled,
  acceptKeyed,
  acceptKeyedScheduled,
  acceptScheduled,
  findSends,
} from '../sql/accept.ts'
import { readBalances } from '../sql/accounts.ts'
import { arrayOf, arrayOfTexts } from '../sql/arrays.ts'
import type { RowOf, ValuesOf } from '../sql/statement.ts'
import { LANE } from '../stored-codes.ts'
import { idCounter, type IdRange } from './message-ids.ts'
import type { Placement, RouteOf, WaitingOrder } from './waiting-orders.ts'

/** Row of `smpp_accept` in which a statement holds the sends that it stores. */
export interface Hold {
  readonly process: string
  readonly slot: number
}

/** Row of `send`: one text at one price from one address to many numbers, with consecutive ids. */
export interface Send {
  readonly firstId: number
  readonly account: AccountId
  readonly body: Body
  readonly due: Instant | undefined
  readonly options: SendOptions
  readonly lane: Lane
  readonly cost: Credits
  /** `sender.id` of the address that the messages are sent from. */
  readonly from: number
  readonly route: RouteNumber
  readonly numbers: Msisdn[]
  /** Client references of the numbers, in their order; undefined if none has one. */
  references: (MessageReference | undefined)[] | undefined
}

/** Sends of an order, and the answer to it. */
export interface OrderSends {
  readonly account: AccountId
  readonly sends: readonly Send[]
  readonly results: Acceptance['results']
  /** Leased ids that the order does not use. */
  readonly rest: readonly IdRange[]
}

/**
 * Maximum number of recipients in a send. A claim reads all numbers of a send even if it needs only some of them, so a
 * send must not be too large.
 */
const numbersMax = 1000

/**
 * Assigns ids from `ranges` to the recipients of an order in their order, and joins neighbours with the same text,
 * price, address and route into a send. Recipients of a text over several routes are ordered by route (`byRoute`),
 * unless the ids must be consecutive in request order.
 * `accepted` has an element for each recipient of the order; recipients with false get no id and no send.
 */
export function layOut(
  {
    account,
    texts,
    isConsecutive = false,
    senderOf,
    routeOf = withoutRoute,
  }: Order & Pick<Placement, 'senderOf'> & Partial<Placement>,
  ranges: readonly IdRange[],
  accepted?: readonly boolean[],
): OrderSends {
  const ids = idCounter(ranges)
  const sends: Send[] = []
  let recipient = 0
  const results = texts.map(({ body, due, options = noOptions, to }) => {
    const isTaken = accepted?.slice(recipient, (recipient += to.length)) ?? []
    const lane = laneOf(to.length - isTaken.filter((is) => !is).length)
    let open: Send | undefined
    const assigned: (MessageId | 'insufficient-credits')[] = to.map(() => 'insufficient-credits')
    // A loop is used, because flatMap would make an array for each element.
    const paid: { readonly i: number; readonly recipient: OrderedRecipient; readonly route: RouteNumber }[] = []
    for (const [i, recipient] of to.entries())
      if (isTaken[i] !== false) paid.push({ i, recipient, route: routeOf(recipient) })
    for (const { i, recipient, route } of isConsecutive ? paid : byRoute(paid)) {
      const id = ids.next()
      const { number, cost, reference } = recipient
      const from = senderOf(recipient)
      if (open === undefined || !isSameSend(open, { cost, from, route }) || !continues(open, id)) {
        open = {
          firstId: id,
          account,
          body,
          due,
          options,
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
      assigned[i] = id as MessageId
    }
    return assigned
  })
  return { account, sends, results, rest: ids.rest() }
}

const withoutRoute: RouteOf = () => noRoute

const block = (id: number): number => Math.floor(id / 10_000)

const continues = ({ firstId, numbers }: Send, id: number): boolean =>
  firstId + numbers.length === id && numbers.length < numbersMax && block(firstId) === block(id)

export const sendsOf = (laidOut: readonly OrderSends[]): readonly Send[] => laidOut.flatMap(({ sends }) => sends)

const costOf = ({ sends }: OrderSends): number =>
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
    const { key, digest, ageSeconds, draft } = repeatable
    answers.push({ account, key, digest, ageSeconds, later, text: writeAnswer(draft, results) })
  }
  return answers
}

/** First answer to a request (ruling 1.24), without the balance, which the charging statement adds. */
export interface AnswerToKeep {
  readonly account: AccountId
  /** Key, digest and age as in `Repeatable`. */
  readonly key: string
  readonly digest: string
  readonly ageSeconds: number
  /** Cost of later orders of the account in the same statement. */
  readonly later: number
  readonly text: string
}

/** Balances of the accounts that paid. */
export type Paid = ReadonlyMap<AccountId, Credits>

/**
 * Charges and stores sends, with their answers, in one statement. For each account it stores either all sends or none.
 * With a hold, no dispatcher claims the sends until the hold is released.
 */
export async function storeSends(
  connection: Connection,
  sends: readonly Send[],
  answers: readonly AnswerToKeep[],
  hold?: Hold,
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
    ...optionValues(sends.map(({ options }) => options)),
  }
  const isScheduled = sends.some(({ due }) => due !== undefined)
  const due = { due: sends.map((send) => send.due) }
  const keyed = answers.length > 0 ? columnsOf(answers) : undefined
  if (hold !== undefined) return paidBy(await storeHeld(connection, { ...values, ...hold }, isScheduled && due, keyed))
  const rows = await (keyed === undefined
    ? isScheduled
      ? connection.run(acceptScheduled, { ...values, ...due })
      : connection.run(accept, values)
    : isScheduled
      ? connection.run(acceptKeyedScheduled, { ...values, ...due, ...keyed })
      : connection.run(acceptKeyed, { ...values, ...keyed }))
  return paidBy(rows)
}

type PaidRow = RowOf<typeof accept>

const paidBy = (rows: readonly PaidRow[]): Paid => new Map(rows.map(({ id, balance }) => [id, balance]))

/** Does the same with the statements that hold the sends. */
function storeHeld(
  connection: Connection,
  values: ValuesOf<typeof acceptHeld>,
  due: false | { readonly due: readonly (Instant | undefined)[] },
  keyed: ReturnType<typeof columnsOf> | undefined,
): Promise<PaidRow[]> {
  if (keyed === undefined)
    return due === false
      ? connection.run(acceptHeld, values)
      : connection.run(acceptHeldScheduled, { ...values, ...due })
  return due === false
    ? connection.run(acceptHeldKeyed, { ...values, ...keyed })
    : connection.run(acceptHeldKeyedScheduled, { ...values, ...keyed, ...due })
}

/** Returns the options by column. An array is empty if no send has a value for the option. */
function optionValues(options: readonly SendOptions[]) {
  const values = <Value>(valueOf: (of: SendOptions) => Value | undefined): readonly (Value | undefined)[] => {
    const all = options.map(valueOf)
    return all.some((value) => value !== undefined) ? all : []
  }
  return {
    priorities: values(({ priority }) => priority),
    flashes: values(({ flash }) => flash),
    validities: values(({ validity }) => validity),
    options: values((of) => {
      const stored = storedOptionsOf(of)
      return stored && JSON.stringify(stored)
    }),
  }
}

const referencesOf = ({ references }: Send): string | undefined => references && arrayOfTexts(references)

const columnsOf = (answers: readonly AnswerToKeep[]) => ({
  keyAccounts: answers.map(({ account }) => account),
  keys: answers.map(({ key }) => key),
  digests: answers.map(({ digest }) => digest),
  ages: answers.map(({ ageSeconds }) => ageSeconds),
  costsLater: answers.map(({ later }) => later),
  answers: answers.map(({ text }) => text),
})

export interface LookedUpOutcome {
  /** First ids of the stored sends. The other sends are not stored and will not be. */
  readonly stored: ReadonlySet<number>
  readonly balances: ReadonlyMap<AccountId, number>
}

/**
 * Looks up which sends were stored by a statement whose answer was lost. Tries for `seconds`, then throws. If it
 * throws, the outcome is unknown.
 */
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
    balances: new Map(balances.map(({ id, balance }) => [id, balance])),
  }
}
