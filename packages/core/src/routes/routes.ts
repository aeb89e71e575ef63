import type { AccountId } from '../accounts/account.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'

/** A carrier of a route. */
export interface RouteCarrier {
  readonly carrier: CarrierId
  /** 1 is tried first; 1 to 100. */
  readonly priority: number
  /** Its share among carriers of the same priority; 1 to 1000. */
  readonly weight: number
}

/** Seconds for which a message waits for a carrier of a better priority that has no room; `never`: it only waits. */
export type OverflowAfter = number | 'never'

/** By lane: single sends, and bulk. */
export interface Overflow {
  readonly single: OverflowAfter
  readonly bulk: OverflowAfter
}

/** A one-time code must not wait for a cheaper carrier; a campaign may. */
export const overflowDefaults: Overflow = { single: 2, bulk: 'never' }

/** Longest time until a message overflows, in seconds: a day. */
export const overflowSecondsMax = 86_400

/** Which carriers take a message, by its number, account and sender address. */
export interface Route {
  /** 1 to 32 of a-z, 0-9, '-'. */
  readonly name: string
  /** How the number begins, in digits; empty: every number. */
  readonly prefixes: readonly string[]
  /** Empty: every account. */
  readonly accounts: readonly AccountId[]
  /** Empty: every sender address. */
  readonly senders: readonly SenderAddress[]
  /** At least one. */
  readonly carriers: readonly RouteCarrier[]
  /**
   * When messages go to the next carrier with room because all of a better priority are full. Undefined:
   * `overflowDefaults`.
   */
  readonly overflow?: Overflow
}

export const overflowOf = ({ overflow = overflowDefaults }: Pick<Route, 'overflow'>): Overflow => overflow

/** The overflow as a route keeps it: undefined if it is the default. */
export const storedOverflow = ({ overflow }: Pick<Route, 'overflow'>): Pick<Route, 'overflow'> => {
  const isDefault = overflow?.single === overflowDefaults.single && overflow.bulk === overflowDefaults.bulk
  return overflow === undefined || isDefault ? {} : { overflow: { single: overflow.single, bulk: overflow.bulk } }
}

/** What of a message decides its route. */
export interface RoutedMessage {
  readonly account: AccountId
  /** Undefined: it has no address of ours, so that no route with sender addresses is its route. */
  readonly from: SenderAddress | undefined
  readonly to: Msisdn
}

const isAnyOr = <T>(wanted: readonly T[], value: T | undefined): boolean =>
  wanted.length === 0 || (value !== undefined && wanted.includes(value))

const hasPrefix = (prefixes: readonly string[], to: Msisdn): boolean => {
  if (prefixes.length === 0) return true
  const { set, lengths } = indexOf(prefixes)
  return lengths.some((length) => set.has(to.slice(0, length)))
}

interface PrefixIndex {
  readonly set: ReadonlySet<string>
  readonly lengths: readonly number[]
}

const indices = new WeakMap<readonly string[], PrefixIndex>()

/** A route is not changed once it is there: with a thousand prefixes each number is looked up a few times. */
function indexOf(prefixes: readonly string[]): PrefixIndex {
  let index = indices.get(prefixes)
  if (index === undefined) {
    index = { set: new Set(prefixes), lengths: [...new Set(prefixes.map(({ length }) => length))] }
    indices.set(prefixes, index)
  }
  return index
}

/** The first route, in the order given, all of whose conditions hold; undefined: there is none. */
export const chooseRoute = <R extends Route>(
  routes: readonly R[],
  { account, from, to }: RoutedMessage,
): R | undefined =>
  routes.find(
    (route) => isAnyOr(route.accounts, account) && isAnyOr(route.senders, from) && hasPrefix(route.prefixes, to),
  )

/** A condition of a route that a message does not meet. */
export type UnmetCondition = 'prefix' | 'account' | 'sender'

/**
 * The routes up to the one of the message, in their order, each with what the message does not meet; none: it is its.
 */
export function explainRoute<R extends Route>(
  routes: readonly R[],
  message: RoutedMessage,
): readonly { readonly route: R; readonly unmet: readonly UnmetCondition[] }[] {
  const chosen = chooseRoute(routes, message)
  const tried = chosen === undefined ? routes : routes.slice(0, routes.indexOf(chosen) + 1)
  return tried.map((route) => ({
    route,
    unmet: [
      ...(hasPrefix(route.prefixes, message.to) ? [] : (['prefix'] as const)),
      ...(isAnyOr(route.accounts, message.account) ? [] : (['account'] as const)),
      ...(isAnyOr(route.senders, message.from) ? [] : (['sender'] as const)),
    ],
  }))
}

/** Whether every message meets its conditions. */
export const isForAll = ({ prefixes, accounts, senders }: Route): boolean =>
  prefixes.length === 0 && accounts.length === 0 && senders.length === 0
