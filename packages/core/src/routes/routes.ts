import type { AccountId } from '../accounts/account.ts'
import type { Msisdn, SenderAddress } from '../messages/msisdn.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'

/** Carrier of a route, with its priority and weight. */
export interface RouteCarrier {
  readonly carrier: CarrierId
  /** Priority, 1 to 100; 1 is tried first. */
  readonly priority: number
  /** Share among carriers of the same priority, 1 to 1000. */
  readonly weight: number
}

/**
 * Seconds for which a message waits while the carriers of a better priority are full. Then the next carrier may claim
 * it. 'never': the message keeps waiting.
 */
export type OverflowAfter = number | 'never'

/** Overflow settings by lane. */
export interface Overflow {
  readonly single: OverflowAfter
  readonly bulk: OverflowAfter
}

/** Default overflow. A one-time code (`single`) must not wait for a cheaper carrier, but a campaign (`bulk`) may. */
export const overflowDefaults: Overflow = { single: 2, bulk: 'never' }

/** Maximum seconds until a message overflows: a day. */
export const overflowSecondsMax = 86_400

/** Rule that selects the carriers of a message by its number, account and sender address. */
export interface Route {
  /** Name: 1 to 32 characters of a-z, 0-9 and '-'. */
  readonly name: string
  /** Leading digits of the recipient's number; empty: every number. */
  readonly prefixes: readonly string[]
  /** Accounts whose messages use this route; empty: every account. */
  readonly accounts: readonly AccountId[]
  /** Sender addresses; empty: every sender address. */
  readonly senders: readonly SenderAddress[]
  /** Carriers of the route, at least one. */
  readonly carriers: readonly RouteCarrier[]
  /**
   * How long messages wait for full carriers of a better priority before the next carrier with room gets them. If
   * undefined, `overflowDefaults` apply.
   */
  readonly overflow?: Overflow
}

export const overflowOf = ({ overflow = overflowDefaults }: Pick<Route, 'overflow'>): Overflow => overflow

/** Returns the overflow to store: absent if it is the default. */
export const storedOverflow = ({ overflow }: Pick<Route, 'overflow'>): Pick<Route, 'overflow'> => {
  const isDefault = overflow?.single === overflowDefaults.single && overflow.bulk === overflowDefaults.bulk
  return overflow === undefined || isDefault ? {} : { overflow: { single: overflow.single, bulk: overflow.bulk } }
}

/** The properties of a message that decide its route. */
export interface RoutedMessage {
  readonly account: AccountId
  /**
   * Sender address. Undefined if the message has no sender address of the gateway; routes that name sender addresses
   * then do not match.
   */
  readonly from: SenderAddress | undefined
  readonly to: Msisdn
}

const isAnyOr = <T>(allowed: readonly T[], value: T | undefined): boolean =>
  allowed.length === 0 || (value !== undefined && allowed.includes(value))

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

/**
 * Returns the index of a list of prefixes. It is cached, because the list never changes. Even with a thousand prefixes
 * a number needs only a few lookups.
 */
function indexOf(prefixes: readonly string[]): PrefixIndex {
  let index = indices.get(prefixes)
  if (index === undefined) {
    index = { set: new Set(prefixes), lengths: [...new Set(prefixes.map(({ length }) => length))] }
    indices.set(prefixes, index)
  }
  return index
}

/** Returns the first route whose conditions the message meets; undefined if there is none. */
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
 * Returns the routes up to the chosen one, in order, each with the conditions that the message does not meet; the
 * chosen route has none.
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

/** Returns true if every message meets the conditions of the route. */
export const isForAll = ({ prefixes, accounts, senders }: Route): boolean =>
  prefixes.length === 0 && accounts.length === 0 && senders.length === 0
