import type { AccountId } from '../accounts/account.ts'
import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { GatewayDay } from '../time/gateway-time.ts'
import type { OutcomeCode } from './status-code.ts'

/** Messages of one account whose hand-over ended on this day, by what has become of them since. */
export interface DailySum {
  readonly day: GatewayDay
  /** Undefined: none had it. */
  readonly carrier: CarrierId | undefined
  readonly code: OutcomeCode
  readonly messages: number
}

/** What a sum says, and what is there. */
export interface DailySumDifference {
  readonly account: AccountId
  readonly day: GatewayDay
  readonly code: OutcomeCode
  readonly sum: number
  readonly counted: number
}

/** What went through the gateway today. */
export interface Traffic {
  readonly byCarrier: readonly Pick<DailySum, 'carrier' | 'code' | 'messages'>[]
  readonly busiest: readonly { readonly account: AccountId; readonly messages: number }[]
}

/** Sums are kept for so many days; all of the checked ones still have their messages. */
export const dailySumDays = { kept: 400, checked: 60 }

/**
 * How many messages have come to which state, by day, account and carrier. A message belongs to the day on which its
 * hand-over to a carrier ended, or it ended without one. Confirmations of opt-outs are not counted, and what waits is
 * not. They are kept by whatever writes outcomes, in the same step.
 */
export interface DailySums {
  /** From this day on, by day. */
  ofAccount(account: AccountId, from: GatewayDay): Promise<readonly DailySum[]>
  /** Of all accounts together, by carrier. */
  byCarrier(from: GatewayDay): Promise<readonly Pick<DailySum, 'carrier' | 'code' | 'messages'>[]>
  /** The accounts with most messages, most first. */
  busiest(
    from: GatewayDay,
    limit: number,
  ): Promise<readonly { readonly account: AccountId; readonly messages: number }[]>
  /** Adds up at most `changesMax` of the changes since the last call, and forgets what is too old. Returns how many. */
  fold(changesMax: number): Promise<number>
  /** Counts the messages from this day on, as of one moment with the sums; sums that differ. Must be none. */
  check(from: GatewayDay): Promise<readonly DailySumDifference[]>
}
