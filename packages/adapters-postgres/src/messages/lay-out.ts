import {
  byRoute,
  isSameSend,
  laneOf,
  noRoute,
  type Acceptance,
  type AccountId,
  type Body,
  type Credits,
  type Instant,
  type Lane,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type Order,
  type OrderedRecipient,
  type Priority,
  type RouteNumber,
  type ValidityMinutes,
} from '@gateway/core'
import type { IdRange } from './message-ids.ts'

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

/** The `sender.id` of the address that a message of the order to a recipient leaves from. */
export type SenderOf = (to: Pick<OrderedRecipient, 'number' | 'from'>) => number

/** The route of a message of the order to a recipient. */
export type RouteOf = (to: Pick<OrderedRecipient, 'number' | 'from'>) => RouteNumber

/** An order, and where each of its messages leaves from and by. */
export interface PlacedOrder {
  readonly order: Order
  readonly senderOf: SenderOf
  /** Undefined: there are no routes. */
  readonly routeOf?: RouteOf | undefined
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
